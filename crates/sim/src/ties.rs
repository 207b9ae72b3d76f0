//! Which of the events that are due at one instant comes first.

use fencepost_history::{ProcessId, ThreadId};

use crate::Services;
use crate::world::{Action, World};

impl<S: Services> World<S> {
    /// Lets a choice decide between events of one actor at one instant: brings the one that is next
    /// to the head of the queue, or returns the thread whose timer fires first.
    #[cold]
    #[expect(clippy::wildcard_enum_match_arm, reason = "only messages tie")]
    pub(crate) fn settle_tie(&mut self, timer_is_due: bool) -> Option<ThreadId> {
        let is_tied = self.queue.is_tied();
        let head = self.queue.peek().expect("something is queued");
        let (now, mut timer) = (head.at.as_nanos(), None);
        let site = match head.action {
            Action::Request(_) if is_tied => {
                Some(self.servers[usize::from(head.order.actor())].tie)
            }
            Action::Reply(_) => {
                let process = ProcessId(head.order.actor());
                if timer_is_due {
                    self.threads_of(process).for_each(|thread| self.retime(thread));
                    timer = self.threads_of(process).find(|&thread| self.timers.of(thread) == now);
                }
                Some(self.processes[process.index()].sites.tie)
            }
            _ => None,
        }?;
        let tied = if is_tied { self.queue.count_tied() } else { 1 };
        let menu = tied + usize::from(timer.is_some());
        let menu = u32::try_from(menu).expect("messages under way are few");
        let place = self.choices.pick(site, menu) as usize;
        if place == tied {
            return timer;
        }
        self.queue.bring_forward(place);
        None
    }
}
