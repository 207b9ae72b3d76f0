//! Which of the events that are due at one instant comes first.

use fencepost_history::{ProcessId, ThreadId};

use crate::Services;
use crate::queue::Entry;
use crate::world::{Action, World};

/// What happens next.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Due {
    Event(Entry<Action>),
    /// The soonest timer of a thread fires.
    Timer(ThreadId),
}

impl<S: Services> World<S> {
    /// Takes the next event, which is no timer or due together with one; a choice decides between
    /// events of one actor at one instant.
    #[inline(always)]
    pub(crate) fn choose(&mut self, timer_is_due: bool) -> Due {
        let is_tied = self.queue.is_tied();
        if is_tied || timer_is_due {
            return self.choose_tied(is_tied, timer_is_due);
        }
        Due::Event(self.queue.pop().expect("something is queued"))
    }

    /// Takes one of several events that are due together.
    #[cold]
    #[expect(clippy::wildcard_enum_match_arm, reason = "only messages tie")]
    fn choose_tied(&mut self, is_tied: bool, timer_is_due: bool) -> Due {
        let head = self.queue.peek().expect("something is queued");
        let (now, mut timer) = (head.at.as_nanos(), None);
        let site = match head.action {
            Action::Request(_) if is_tied => {
                Some(self.servers[usize::from(head.order.actor())].tie)
            }
            Action::Reply(_) => {
                let process = ProcessId(head.order.actor());
                if timer_is_due {
                    timer = self.threads_of(process).find(|&thread| self.timers.of(thread) == now);
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
        Due::Event(self.queue.pop_later(place).expect("it was counted"))
    }
}
