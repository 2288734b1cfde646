"""The shell around one core: the only room with threads and locks. Start with `worker.py`.

Every lock of the implementation is in this table, also the few of other rooms. A thread that holds one takes only locks with
higher numbers. So two with the same number are never held together, and no circle of threads can wait for each other. A test
finds the locks in the code, and watches a run for the order.

Under the first two user code runs, as they are there for it. Under no other does it, and `FARREF_DEBUG=1` asserts that
(`user_code.py`).

|   | file, name | kind | what it guards | who may wait while holding it |
|---|---|---|---|---|
| 1 | `worker/process.py` `joining` | Lock | that this process joins one world at a time | whoever joins, for all others |
| 2 | `worker/worker.py` `stepping` | Lock | optimizer steps on this worker | whoever steps: that is user code |
| 3 | `worker/reactor.py` `_role` | Lock | reading, for all | the reader, for input; others go on without the role |
| 4 | `worker/worker.py` `lock` | RLock | the core and all tables: one step at a time | nobody |
| 4 | `worker/connection.py` `_sending` | Lock | writing to one peer | nobody |
| 5 | `worker/futures.py` `_settling` | RLock | that a future is settled once | nobody |
| 5 | `worker/reactor.py` `_count` | Lock | who stands by, and which threads there are | nobody, but for the start of a thread |
| 5 | `transport/tls.py` `_lock` | Lock | one TLS connection, for one call at a time | nobody: no call blocks |
| 5 | `transport/doorway.py` `_lock` | Lock | who is at the door | nobody |
| 5 | `tape/tensors.py` `_new_nodes` | RLock | that a leaf has one node | nobody |

These have no place in the order. Nobody holds them while doing something else.

|   | file, name | kind | what it is for | who may wait for it |
|---|---|---|---|---|
| - | `worker/waiting.py` `_silent` | Lock | free if the bell was rung | who stands by; a caller, holding at most `stepping` |
| - | `worker/membership.py` `news` | Event | somebody is lost, or leaves | who waits for its driver to leave, holding nothing |
| - | `transport/doorway.py` `_admitted` | SimpleQueue | who has proved itself at the door | nobody |
| - | `user_code.py` `_Mine` | local | which locks a thread has, in debug mode | |
| - | `tape/mode.py` `_Mode` | local | whether a thread records | |

The threads follow a model (`spec/threads.md`). These functions take these steps of it, and a test looks the names up in both.

| function | steps |
|---|---|
| `Worker.call` | MakeCall, CallSelf |
| `Lines.hand_over` | WriteAtOnce, HandOver, Kick |
| `Lines.write_results` | Kick |
| `Connection.flush` | WriteAll, Unlock |
| `Intake.turn` | BeginTurn, PollEnds |
| `Intake._drain_kicks` | Hear |
| `Reactor.queue` | WakeForTask |
| `Reactor.serve_until` | Wait, GoOn |
| `Reactor._serve_until` | TryRole, PassOn |
| `Reactor._read_until` | BeginReading, BeginTurn, StopReading |
| `Reactor._stand_in_line` | ClearEvent, LookWhetherDone, TryInLine, WakeInLine |
| `Reactor._background` | TakeTasks, TakeRole |
| `Reactor._lead` | BeginLeading, BeginTurn, StopLeading, PassOn |
| `Reactor._stand_by` | StandBy, LookWhoReads, TakeToken, NapEnds |
| `Reactor._spawn` | StartThread, FailToStart |
| `Reactor._run_tasks` | TakeTask |
| `run` | EndTask |
| `Front.__call__` | Interrupt |
"""
