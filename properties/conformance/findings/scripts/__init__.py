"""Defects of PyTorch 2.13.0, each as a program that anybody with PyTorch can run: no import of ours, and nothing shared.

Each prints its steps, and at last one line that says whether the defect showed; it ends with 1 if it did, with 0 if it did not,
and with 2 if the experiment could not be carried out. `findings.toml` says what each is about.
"""
