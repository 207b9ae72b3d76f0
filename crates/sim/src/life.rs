//! How processes and threads start, stop, resume and die.

use fencepost_history::{Duration, Instant, ProcessId, ThreadId, What};

use crate::Services;
use crate::queue::{Entry, Order};
use crate::world::{Action, World};

impl<S: Services> World<S> {
    pub(crate) fn finish(&mut self, thread: ThreadId) {
        let state = &mut self.threads[thread.index()];
        if !state.is_running {
            return;
        }
        state.is_running = false;
        self.open_workers -= u32::from(state.is_worker);
        self.has_business |= self.open_workers == 0;
        self.emit(What::Finished { thread });
    }

    pub(crate) fn start_process(&mut self, process: ProcessId) {
        let common_memory = self.common_memory;
        let state = &mut self.processes[process.index()];
        state.is_alive = true;
        state.starts += 1;
        state.lost_calls = self.last_call;
        state.memory = common_memory;
        state.paused_until = Instant::ZERO;
        let is_restart = state.starts > 1;
        for thread in self.threads_of(process) {
            let state = &mut self.threads[thread.index()];
            state.is_stopped = false;
            state.is_running = state.is_worker;
            state.wants_step = false;
            state.stalled_until = Instant::ZERO;
            state.close_all();
        }
        if is_restart {
            self.emit(What::Restarted { process });
        }
    }

    pub(crate) fn resume_process(&mut self, process: ProcessId) {
        let state = &mut self.processes[process.index()];
        // A longer pause may go on, and a crash ends one before its time.
        if !state.is_alive || state.paused_until != self.now {
            return;
        }
        state.paused_until = Instant::ZERO;
        self.emit(What::Resumed { process });
        for thread in self.threads_of(process) {
            let state = &mut self.threads[thread.index()];
            state.is_stopped = state.stalled_until > self.now;
            self.retime(thread);
        }
    }

    pub(crate) fn resume_thread(&mut self, thread: ThreadId) {
        let state = &mut self.threads[thread.index()];
        let process = &self.processes[state.process.index()];
        if !process.is_alive || state.stalled_until != self.now {
            return;
        }
        state.stalled_until = Instant::ZERO;
        state.is_stopped = process.paused_until > self.now;
        self.emit(What::Unstalled { thread });
        self.retime(thread);
    }

    /// Makes all actors as they are at the start of a run.
    pub(crate) fn reset_actors(&mut self) {
        self.open_workers = 0;
        for thread in &mut self.threads {
            thread.is_stopped = true;
            thread.is_running = false;
            thread.wants_step = false;
            thread.close_all();
            thread.stalled_until = Instant::ZERO;
        }
        for state in &mut self.processes {
            state.own = 0;
            state.next_fault = self.max_steps;
            state.paused_until = Instant::ZERO;
            state.is_alive = false;
            state.starts = 0;
            state.lost_calls = u32::MAX;
            state.clock = state.first_clock;
            self.open_workers += state.worker_count;
        }
        for server in &mut self.servers {
            server.own = 0;
            server.next_fault = u32::MAX;
            server.is_up = true;
            server.stalled_until = Instant::ZERO;
            server.busy_until = Instant::ZERO;
            server.epoch = 1;
            server.clock = server.first_clock;
        }
    }

    /// Lets the processes start.
    pub(crate) fn queue_starts(&mut self) {
        for (state, process) in self.processes.iter().zip(0..) {
            let order = Order::fault(process, 0);
            self.queue.push(Entry { at: state.start, order, action: Action::Start });
        }
    }

    pub(crate) fn pause(&mut self, process: ProcessId, length: Duration) {
        let until = self.now + length;
        let state = &mut self.processes[process.index()];
        if !state.is_alive {
            return;
        }
        let threads = state.first_thread..state.first_thread + state.thread_count;
        let paused_before = state.paused_until;
        state.paused_until = paused_before.max(until);
        let number = self.next_number();
        let order = Order::fault(process.0, number);
        self.queue.push(Entry { at: until, order, action: Action::Resume });
        self.emit(What::Paused { process, until });
        for thread in threads.map(ThreadId) {
            let state = &mut self.threads[thread.index()];
            state.is_stopped = true;
            let stopped_before = state.stalled_until.max(paused_before);
            self.lengthen_work(thread, stopped_before, until);
            self.retime(thread);
        }
    }

    pub(crate) fn stall(&mut self, thread: ThreadId, length: Duration) {
        let until = self.now + length;
        let process = self.threads[thread.index()].process;
        if !self.processes[process.index()].is_alive {
            return;
        }
        let state = &mut self.threads[thread.index()];
        let paused_until = self.processes[process.index()].paused_until;
        let stopped_before = state.stalled_until.max(paused_until);
        state.stalled_until = state.stalled_until.max(until);
        state.is_stopped = true;
        let number = self.next_number();
        let order = Order::fault(process.0, number);
        self.queue.push(Entry { at: until, order, action: Action::Unstall(thread.0.into()) });
        self.emit(What::Stalled { thread, until });
        self.lengthen_work(thread, stopped_before, until);
        self.retime(thread);
    }

    /// Moves the ends of a thread's CPU work by the time in which it does not run: until `until`,
    /// beyond what it had been stopped for before.
    fn lengthen_work(&mut self, thread: ThreadId, stopped_before: Instant, until: Instant) {
        let by = until.since(stopped_before.max(self.now));
        let now = self.now;
        let state = &mut self.threads[thread.index()];
        for slot in state.used_slots() {
            let op = &mut state.slots[slot];
            if op.is_work && op.deadline >= now {
                op.deadline = op.deadline + by;
            }
        }
    }

    /// Changes the rate of a process's clock, and with it when its timers fire.
    pub(crate) fn set_rate(&mut self, process: ProcessId, rate: i64) {
        let state = &mut self.processes[process.index()];
        let before = state.clock;
        state.clock.set_rate(self.now, rate);
        let clock = state.clock;
        let threads = state.first_thread..state.first_thread + state.thread_count;
        let now = self.now;
        let left = |deadline: Instant| before.local(deadline).since(before.local(now));
        for thread in threads.map(ThreadId) {
            let state = &mut self.threads[thread.index()];
            for slot in state.used_slots() {
                let op = &mut state.slots[slot];
                if op.deadline > now && op.deadline != Instant::NEVER {
                    let length = clock.true_length(left(op.deadline).as_nanos());
                    op.deadline = now + Duration::from_nanos(length);
                }
            }
            self.retime(thread);
        }
    }

    pub(crate) fn crash_process(&mut self, process: ProcessId, down: Duration) {
        let state = &mut self.processes[process.index()];
        if !state.is_alive {
            return;
        }
        state.is_alive = false;
        state.lost_calls = u32::MAX;
        let threads = state.first_thread..state.first_thread + state.thread_count;
        self.emit(What::Crashed { process });
        for thread in threads.map(ThreadId) {
            let state = &mut self.threads[thread.index()];
            state.is_stopped = true;
            state.close_all();
            self.open_workers -= u32::from(state.is_running && state.is_worker);
            state.is_running = false;
            self.timers.set(thread, Instant::NEVER);
        }
        self.crashed.push(process);
        self.has_business = true;
        let at = self.now + down;
        if at != Instant::NEVER {
            self.open_workers += self.processes[process.index()].worker_count;
            let number = self.next_number();
            let order = Order::fault(process.0, number);
            self.queue.push(Entry { at, order, action: Action::Start });
        }
    }

    /// Stops a process that has had more own events than a run may have.
    pub(crate) fn stop_for_good(&mut self, process: ProcessId) {
        let state = &mut self.processes[process.index()];
        state.paused_until = Instant::NEVER;
        for thread in state.first_thread..state.first_thread + state.thread_count {
            self.threads[ThreadId(thread).index()].is_stopped = true;
        }
        self.has_too_many_steps = true;
        self.has_business = true;
    }
}
