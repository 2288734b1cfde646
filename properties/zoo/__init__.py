"""What is wrong on purpose, to show that mistakes are found.

Every creature of the zoo is wrong in one way. It has a name, a sentence that says what is wrong, the clause that it breaks,
where the idea comes from, and what must catch it (`creature.py`). `catalogue.py` has them all. A test goes through those that
somebody wrote and sees each of them caught by what it names. `farref zoo` asks every engine about every one, and
`properties/zoo/evidence.json` keeps what came of it:

- `mutants/`: our implementation with one handler replaced. The twin must catch each of them (`farref fuzz rref` and
  `farref fuzz autograd`), and the kit those that name a check. Those in `rref_storm.py` show only where there is no model:
  a storm must catch them (`farref fuzz rref --backend storm`), and the twin must not. Those in `rref_members.py` show when a
  worker is lost: the crash points must catch them (`farref crashes`). Those in `shell.py` show between real processes only.
  `history.py` tells mistakes of PyTorch, Ray and Java RMI again, and `shared.py` makes one mistake twice, in the model too.
- `mutants/guards.py`: the core without one of its guards. Those are made from the source, nobody wrote them.
- `off.py`: the protocol without one of its rules, and the oracle without one of its properties.
- `backends/`: a whole backend that breaks a clause. The kit must catch each by the checks that it names and by no other, for
  a kit that blames the wrong clause sends its user the wrong way.

`toy/` is the honest backend that the wrong ones are made from: what the kit says of it shows that it accuses nobody without
reason. A few backends in `backends/odd.py` break nothing, and are there to see how the kit takes them. `survivors.py` says of
those that nothing kills why nobody could.

Where creatures come from (`origin`): a defect of PyTorch that was found (`spec/findings.md` has it by its name), the history of
another system, a review that asked what nothing asked, a rule, a guard, the oracle, or simply a clause: a mistake that somebody
could make who builds a backend from it.
"""
