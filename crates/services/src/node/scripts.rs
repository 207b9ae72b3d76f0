//! The scripts that a node runs for the user.

#[cfg(feature = "lua")]
use fencepost_redis::Command;
use fencepost_sim::{CallRef, ServerContext};

use super::RedisNode;
use crate::Servers;
use crate::script::{ScriptReply, ScriptRequest};
use crate::servers::Reply;

impl RedisNode {
    /// Runs a user's script.
    #[cold]
    #[inline(never)]
    pub(crate) fn serve_script(
        &mut self,
        call: CallRef,
        request: &ScriptRequest,
        cx: &mut ServerContext<'_, Servers>,
    ) {
        let reply = self.run_script(request, cx);
        cx.reply(call, Reply::Script(reply), self.setup.script_time);
    }

    #[cfg(feature = "lua")]
    fn run_script(
        &mut self,
        request: &ScriptRequest,
        cx: &mut ServerContext<'_, Servers>,
    ) -> ScriptReply {
        if self.is_watched && self.refusal(&Command::Del { key: request.key }, cx).is_some() {
            return ScriptReply { verdict: crate::ScriptVerdict::Failed, number: None };
        }
        let micros = cx.wall(self.setup.server).as_nanos() / 1_000;
        let Some(scripts) = &mut self.scripts else { return ScriptReply::NO_SCRIPT };
        let Some(outcome) = scripts.run(&mut self.engine, request, micros) else {
            return ScriptReply::NO_SCRIPT;
        };
        for change in &outcome.changes {
            let key = Some(request.key);
            self.tell(key, request.by, change.expired, change.change, micros / 1_000, cx);
        }
        ScriptReply::of(&outcome.reply)
    }

    #[cfg(not(feature = "lua"))]
    fn run_script(&mut self, _: &ScriptRequest, _: &mut ServerContext<'_, Servers>) -> ScriptReply {
        ScriptReply::NO_SCRIPT
    }

    #[cfg(feature = "lua")]
    pub(crate) fn script_failure(&self) -> Option<&str> {
        self.scripts.as_ref().and_then(|scripts| scripts.failure.as_deref())
    }

    #[cfg(not(feature = "lua"))]
    pub(crate) const fn script_failure(&self) -> Option<&str> {
        None
    }

    #[cfg(feature = "lua")]
    pub(crate) fn describe_script(&self, request: &ScriptRequest) -> String {
        let scripts = self.scripts.as_ref();
        scripts.map(|own| own.describe(request, self.names())).unwrap_or_default()
    }

    #[cfg(not(feature = "lua"))]
    pub(crate) fn describe_script(&self, _: &ScriptRequest) -> String {
        String::new()
    }
}
