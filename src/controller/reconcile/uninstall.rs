//! The end of an instance, a step at a time: its hooks before, its members in Helm's order, its hooks after, and then the
//! finalizer is let go.
//!
//! Without our finalizer there is nothing to do here: garbage collection deletes what the resource owns.

use std::sync::Arc;

use super::{
    super::{events::Level, generated},
    Outcome, Work,
    act::stray,
    hooks::{Course, Wait},
    report::now,
    status::{self, Hooks, Problem, Seen},
};
use crate::{
    api::{
        names,
        status::{Action, HOOKS_LIMIT, Pending},
    },
    manifest::{Event, Order},
    release::{
        failure::Failure,
        health::Health,
        hooks::{self, Hook},
        inventory::{GroupKind, ObjectKey},
        leftover,
        plan::Live,
    },
};

/// The hooks of an uninstall.
struct Deletion {
    hooks: Vec<Hook>,
    namespace: String,
    state: Hooks,
}

impl Work<'_> {
    /// Whether the finalizer is wanted for what nobody renders: the instance is to be orphaned, or somebody has said of a
    /// member that it is to be kept.
    pub(super) fn is_to_leave_something(&self) -> bool {
        self.cr.leaves_members() || self.operator.world().members(&self.set).any(|(_, live)| live.keep)
    }

    pub(super) async fn uninstall(&self) -> Outcome {
        if !self.cr.finalizer && !self.cr.sdk_finalizers {
            return Outcome::Gone;
        }
        let done = if self.cr.leaves_members() { self.let_everything_go().await } else { self.clear().await };
        match done {
            Ok(outcome) => outcome,
            Err(problem) => {
                let latest = self.latest();
                let left: Vec<Seen> = self.left().iter().map(|(key, live)| seen(key, live)).collect();
                let status = status::uninstalling(
                    &latest.status,
                    self.cr.generation(),
                    &left,
                    Hooks::of(&latest.status),
                    Some(&problem),
                    &now(),
                );
                self.say(Level::Warning, "UninstallFailed", "Delete", None, &problem.message);
                if let Err(second) = self.write(status).await {
                    tracing::warn!(instance = %self.id, error = %second.message, "the status could not be written");
                }
                Outcome::Failed(problem)
            }
        }
    }

    /// Whether garbage collection has let go of the members, while nobody was here to see that the deletion asks for it: it
    /// takes the owner references off first, and then its finalizer.
    async fn was_let_go(&self) -> Result<bool, Problem> {
        let left = self.left();
        // We have begun to delete them.
        if left.iter().any(|(_, live)| live.deleting) {
            return Ok(false);
        }
        let mut any = false;
        for (key, _) in left.iter().filter(|(key, live)| !live.keep && self.parent.can_own(key)) {
            let live = self.cluster().metadata(key).await;
            let Some(live) = live.map_err(|failure| self.problem("UninstallFailed", key, &failure))? else {
                continue;
            };
            if self.parent.owns(&live.metadata) {
                return Ok(false);
            }
            any = true;
        }
        Ok(any)
    }

    /// `pintle.dev/orphan`: everything stays, and nothing of it says any more that it is ours.
    async fn let_everything_go(&self) -> Result<Outcome, Problem> {
        self.watch_members(Vec::new()).await?;
        for (key, _) in self.left() {
            let released = tolerate_gone(self.cluster().release(&key, &self.parent.uid).await);
            released.map_err(|failure| self.problem("UninstallFailed", &key, &failure))?;
        }
        // Whoever takes the objects up again goes on with the same passwords.
        if let Some((kind, _, _)) = self.cluster().resource(&GroupKind::parse("Secret"))
            && let Ok(namespace) = self.release_namespace()
        {
            let name = generated::secret_name(&self.parent);
            let key = ObjectKey { kind, namespace: namespace.into(), name: name.into() };
            if self.served.generates.load(std::sync::atomic::Ordering::Relaxed) {
                let released = tolerate_gone(self.cluster().release(&key, &self.parent.uid).await);
                released.map_err(|failure| self.problem("UninstallFailed", &key, &failure))?;
            }
        }
        self.finish("all members were let go").await
    }

    async fn clear(&self) -> Result<Outcome, Problem> {
        let mut deletion = self.deletion().await?;
        let run = deletion.iter().flat_map(|d| {
            let hooks = d.hooks.iter().filter(|h| h.is_of(Event::PreDelete) || h.is_of(Event::PostDelete));
            self.keys_of_hooks(hooks, &d.namespace)
        });
        self.watch_members(run.collect()).await?;
        if self.was_let_go().await? {
            return self.let_everything_go().await;
        }
        if let Some(deletion) = &mut deletion
            && let Some(outcome) = self.before_delete(deletion).await?
        {
            return Ok(outcome);
        }
        self.delete_members().await?;
        let left: Vec<Seen> =
            self.left().iter().filter(|(_, live)| !live.keep).map(|(key, live)| seen(key, live)).collect();
        if !left.is_empty() {
            let state = deletion.map_or_else(|| Hooks::of(&self.cr.status), |d| d.state);
            self.write_uninstalling(&left, state).await?;
            return Ok(Outcome::Waiting(None));
        }
        if let Some(deletion) = &mut deletion
            && let Some(outcome) = self.after_delete(deletion).await?
        {
            return Ok(outcome);
        }
        self.finish("all members are gone, or were let go").await
    }

    /// The hooks of the uninstall, and how far they have come; none when the chart has none, or they are not to be run.
    async fn deletion(&self) -> Result<Option<Deletion>, Problem> {
        let before = &self.cr.status;
        // What we have never begun with has no hooks of ours.
        if self.cr.marks.hooks_disabled() || !self.cr.marks.is_parent_of(&self.set) {
            return Ok(None);
        }
        let of_delete = |events: &[String]| events.iter().any(|e| e == "pre-delete" || e == "post-delete");
        let listed = before.hooks.iter().any(|hook| of_delete(&hook.events));
        if before.release.is_some() && !listed && before.hooks.len() < HOOKS_LIMIT {
            return Ok(None);
        }
        let under_way = before.pending.as_ref().filter(|p| p.action == Action::Uninstall);
        let revision = before.release.as_ref().map_or(1, |r| r.revision);
        let namespace = self.release_namespace()?;
        let hooks = match self.render_hooks(revision, &namespace).await {
            Ok(hooks) => hooks,
            // It never came so far that hooks were known of.
            Err(_) if !listed => return Ok(None),
            // What it renders from may be gone by now.
            Err(problem) if under_way.is_some_and(|p| p.done.iter().any(|e| e == "pre-delete")) => {
                let note = format!("hooks after the deletion are not run: {}", problem.message);
                self.say(Level::Warning, "HooksSkipped", "Delete", None, &note);
                return Ok(None);
            }
            Err(problem) => {
                return Err(Problem {
                    message: format!(
                        "the hooks of the deletion cannot be run: {}. Mend the spec, or annotate the resource with {}: disabled to delete it without them",
                        problem.message,
                        names::HOOKS
                    ),
                    ..problem
                });
            }
        };
        if !hooks::any_of(&hooks, Action::Uninstall) {
            return Ok(None);
        }
        let mut state = Hooks::of(before);
        if under_way.is_some() {
            self.retry(&mut state);
        } else {
            state.lines = hooks::lines(&hooks);
            state.pending = Some(Pending {
                action: Action::Uninstall,
                revision,
                request: self.cr.marks.reconcile().to_owned(),
                ..Pending::default()
            });
        }
        Ok(Some(Deletion { hooks, namespace, state }))
    }

    /// Nothing is deleted before these have succeeded. Some outcome is the end of the reconcile.
    async fn before_delete(&self, d: &mut Deletion) -> Result<Option<Outcome>, Problem> {
        match self.run_delete_event(Event::PreDelete, d).await? {
            Course::Waiting(wait) => self.await_delete_hook(d, wait).await.map(Some),
            Course::Failed(problem) => {
                let problem = Problem {
                    message: format!(
                        "{}. Nothing was deleted: annotate the resource with a new {} to run it again, or with {}: disabled to delete without hooks",
                        problem.message,
                        names::RECONCILE,
                        names::HOOKS
                    ),
                    ..problem
                };
                let status = status::hook_failed(
                    &self.latest().status,
                    self.cr.generation(),
                    d.state.clone(),
                    &problem,
                    &self.left().iter().map(|(key, live)| seen(key, live)).collect::<Vec<_>>(),
                    &now(),
                );
                self.say_failed(&problem);
                self.write(status).await?;
                self.clean_failed(Event::PreDelete, &d.hooks, &d.state).await?;
                Ok(Some(Outcome::Stuck(problem)))
            }
            _ => Ok(None),
        }
    }

    /// What these come to changes nothing: everything is gone already. Some outcome is the end of the reconcile.
    async fn after_delete(&self, d: &mut Deletion) -> Result<Option<Outcome>, Problem> {
        match self.run_delete_event(Event::PostDelete, d).await? {
            Course::Waiting(wait) => self.await_delete_hook(d, wait).await.map(Some),
            Course::Failed(problem) => {
                self.say(Level::Warning, "HookFailed", "Hook", None, &problem.message);
                tracing::warn!(instance = %self.id, error = problem.message, "uninstalled, but for a hook");
                self.clean_failed(Event::PostDelete, &d.hooks, &d.state).await?;
                Ok(None)
            }
            _ => Ok(None),
        }
    }

    async fn await_delete_hook(&self, d: &mut Deletion, wait: Wait) -> Result<Outcome, Problem> {
        let until = wait.until;
        self.await_hook(&mut d.state, wait);
        self.operator
            .look_at_pods(self.id, self.hook_pods.get().map(std::slice::from_ref).unwrap_or_default());
        let left: Vec<Seen> =
            self.left().iter().filter(|(_, live)| !live.keep).map(|(key, live)| seen(key, live)).collect();
        self.write_uninstalling(&left, d.state.clone()).await?;
        Ok(Outcome::Waiting(until))
    }

    async fn run_delete_event(&self, event: Event, d: &mut Deletion) -> Result<Course, Problem> {
        match self.run_event(event, &d.hooks, &d.namespace, &mut d.state).await {
            // A namespace that is going takes nothing new in, and waits for us.
            Err(problem) if problem.message.contains("because it is being terminated") => {
                let note = format!("{} hooks are not run: {}", event.name(), problem.message);
                self.say(Level::Warning, "HooksSkipped", "Delete", None, &note);
                Ok(Course::Done)
            }
            result => result,
        }
    }

    /// Watches the kinds of the members, of those that are still served, and counts the instance as a user of them and of
    /// `more`.
    async fn watch_members(&self, more: Vec<Arc<ObjectKey>>) -> Result<(), Problem> {
        for again in [true, false] {
            let mut keys = self.keys_of_extent(&self.cr.marks.extent());
            let members = keys.len();
            keys.extend(more.iter().cloned());
            self.use_kinds(&keys);
            let watched: Vec<&ObjectKey> = keys.iter().take(members).map(|k| &**k).collect();
            match self.operator.watch(&watched).await {
                Ok(()) => return Ok(()),
                // A kind is gone, and all objects of it with it.
                Err(Failure::NotFound(_) | Failure::NotServed(_)) if again => {
                    let asked = self.cluster().rediscover(self.cluster().epoch()).await;
                    asked.map_err(|f| Problem::of_failure("DiscoveryFailed", &f))?;
                }
                Err(failure) => return Err(Problem::of_failure("WatchFailed", &failure)),
            }
        }
        Ok(())
    }

    /// Deletes the members, in the order of a whole uninstall, in which what uses goes before what is used. What is to be
    /// kept is let go.
    async fn delete_members(&self) -> Result<(), Problem> {
        let mut left = self.left();
        left.sort_by(|(a, _), (b, _)| {
            Order::Uninstall.compare(&a.kind.kind, &b.kind.kind).then_with(|| a.cmp(b))
        });
        let mut problems = Vec::new();
        for (key, live) in &left {
            let there = if live.keep {
                let released = tolerate_gone(self.cluster().release(key, &self.parent.uid).await);
                if matches!(released, Ok(true)) {
                    let note = if live.is_stray() { stray(key) } else { format!("{key} was kept") };
                    self.say(Level::Normal, "Kept", "Release", None, &note);
                }
                released
            } else if live.deleting {
                continue;
            } else {
                tolerate_gone(self.cluster().delete(key, &live.uid).await)
            };
            match there {
                Ok(true) => {}
                // Its watch has not said so yet, or never will: its kind is gone.
                Ok(false) => {
                    self.operator.world().gone(key, 0);
                }
                Err(failure) => problems.push(self.problem("UninstallFailed", key, &failure)),
            }
        }
        Problem::all(problems).map_or(Ok(()), Err)
    }

    async fn write_uninstalling(&self, left: &[Seen], state: Hooks) -> Result<(), Problem> {
        let latest = self.latest();
        self.write(status::uninstalling(&latest.status, self.cr.generation(), left, state, None, &now()))
            .await
    }

    /// Lets the finalizers go.
    async fn finish(&self, how: &str) -> Result<Outcome, Problem> {
        let own = ObjectKey {
            kind: Arc::new(GroupKind {
                group: self.parent.gvk.group.as_str().into(),
                kind: self.parent.gvk.kind.as_str().into(),
            }),
            namespace: self.parent.namespace.as_str().into(),
            name: self.parent.name.as_str().into(),
        };
        let drop = |f: &str| f == names::FINALIZER || names::SDK_FINALIZERS.contains(&f);
        self.cluster()
            .drop_finalizers(&own, &self.parent.uid, drop)
            .await
            .map_err(|f| Problem::of_failure("UninstallFailed", &f))?;
        // What it made goes on being seen for a moment, and there is nothing left to be done about it.
        if let Some(instance) = self.operator.world().instance_mut(self.id) {
            let mut cr = (*instance.cr).clone();
            (cr.finalizer, cr.sdk_finalizers) = (false, false);
            instance.cr = Arc::new(cr);
        }
        tracing::info!(instance = %self.id, "uninstalled");
        self.say(Level::Normal, "Uninstalled", "Delete", None, how);
        Ok(Outcome::Gone)
    }

    /// The members that are still there.
    fn left(&self) -> Vec<(Arc<ObjectKey>, Live)> {
        let world = self.operator.world();
        let member = |(key, live): (&Arc<ObjectKey>, &Live)| {
            let keep = live.keep || live.is_stray() || self.must_outlive(key);
            (key.clone(), Live { keep, ..live.clone() })
        };
        world.members(&self.set).map(member).collect()
    }
}

/// A member that is left, and why.
fn seen(key: &Arc<ObjectKey>, live: &Live) -> Seen {
    let health = if live.deleting {
        let message = leftover::why(&live.finalizers).unwrap_or_else(|| "being deleted".into());
        Health { message: message.into(), ..Health::terminating() }
    } else {
        Health { message: "to be deleted".into(), ..Health::terminating() }
    };
    Seen { key: key.clone(), health: Some(health) }
}

/// What is gone, or whose kind is, is what an uninstall wants.
fn tolerate_gone(result: Result<bool, Failure>) -> Result<bool, Failure> {
    match result {
        Err(Failure::NotFound(_) | Failure::NotServed(_)) => Ok(false),
        result => result,
    }
}
