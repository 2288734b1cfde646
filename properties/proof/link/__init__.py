"""The model beside the proof: its worlds as states of the proof, and its steps as steps of the proof."""
