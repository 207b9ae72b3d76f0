//! Which of the events that are due at one instant comes first.

use fencepost_history::ThreadId;

use crate::Services;
use crate::world::{Action, World};

/// What happens next.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Due {
    Action(Action),
    /// The soonest timer of a thread fires.
    Timer(ThreadId),
}

impl<S: Services> World<S> {
    /// Takes the next event; a choice decides between events of one actor at one instant.
    #[inline(always)]
    pub(crate) fn choose(&mut self, timer: u64, queued: u64, thread: ThreadId) -> Due {
        if timer < queued {
            return Due::Timer(thread);
        }
        let head = self.queue.peek().expect("something is queued");
        let (order, at) = (head.order, head.at);
        let second = self.queue.second();
        let is_tied = second.is_some_and(|second| {
            second.at == at && second.order.same_actor(order) && !order.is_fault()
        });
        if is_tied || timer == queued {
            return self.choose_tied(is_tied, timer == queued);
        }
        Due::Action(self.queue.pop().expect("something is queued").action)
    }

    /// Takes one of several events that are due together.
    #[cold]
    #[expect(clippy::wildcard_enum_match_arm, reason = "only messages tie")]
    fn choose_tied(&mut self, is_tied: bool, timer_is_due: bool) -> Due {
        let head = self.queue.peek().expect("something is queued");
        let (now, mut timer) = (head.at.as_nanos(), None);
        let site = match head.action {
            Action::Request { message } if is_tied => {
                let server = self.requests.get(message).to.server;
                Some(self.servers[server.index()].tie)
            }
            Action::Reply { message } => {
                let to = self.replies.get(message).to.thread;
                let process = self.threads[to.index()].process;
                if timer_is_due {
                    timer =
                        self.threads_of(process).find(|thread| self.timers[thread.index()] == now);
                }
                Some(self.processes[process.index()].sites.tie)
            }
            _ => None,
        };
        let mut place = 0;
        if let Some(site) = site {
            let tied = if is_tied { self.queue.count_tied() } else { 1 };
            let menu = tied + usize::from(timer.is_some());
            let menu = u32::try_from(menu).expect("messages under way are few");
            place = self.choices.pick(site, menu) as usize;
            if let Some(thread) = timer
                && place == tied
            {
                return Due::Timer(thread);
            }
        }
        Due::Action(self.queue.pop_later(place).expect("it was counted").action)
    }
}
