//! Pipelines, commands and calls.
//!
//! The methods walk the tree in the order in which Go's text/template evaluates it (exec.go), and note in `self.at` the
//! node that Go would have looked at last: that is the one which Go's errors name.

use crate::gotemplate::{
    ast::{Command, Field, Identifier, NodeRef, Operand, Pipe, Variable},
    print,
    source_map::{ArgSite, Choice, Nil, Site},
};

use super::{
    Construct, Form, Known,
    ir::{Ex, Ir, MAX_DEPTH, MAX_WEIGHT, Place, Pre},
    names::Binding,
    operand::may_fail,
    stmt::Lowering,
};

/// The statements that must run before an expression.
pub(super) type Pres<'b> = Vec<Pre<'b>>;

/// The arguments of a call while they are lowered.
#[derive(Default)]
pub(super) struct Arguments<'a, 'b> {
    pub exprs: Vec<Ex<'b>>,
    pub sites: Vec<ArgSite<'a>>,
}

impl<'a, 'b> Lowering<'a, 'b, '_> {
    /// A pipeline, with what it declares or assigns.
    pub(super) fn pipe(&mut self, pipe: &'a Pipe<'a>, pre: &mut Pres<'b>) -> Ex<'b> {
        let value = self.commands(pipe, pre);
        let Some(variable) = pipe.decl.first() else { return value };
        let mut held = value;
        for variable in std::iter::once(variable).chain(&pipe.decl[1..]) {
            held = self.bind(variable.name(), pipe.is_assign, held, pre);
        }
        let items = self.elements(pipe);
        for variable in pipe.decl.iter().filter(|_| !pipe.is_assign && items.is_some()) {
            if !self.names.is_assigned(variable.name()) {
                self.names.set_items(variable.name(), items);
            }
        }
        held
    }

    /// The commands of a pipeline alone.
    pub(super) fn commands(&mut self, pipe: &'a Pipe<'a>, pre: &mut Pres<'b>) -> Ex<'b> {
        self.at = pipe.into();
        let mut value = None;
        for command in pipe.cmds {
            value = Some(self.command(command, value, pre));
        }
        value.unwrap_or_else(|| self.leaf(Ir::Nil))
    }

    /// Declares or assigns a variable; what it then holds.
    pub(super) fn bind(&mut self, name: &'a str, assign: bool, value: Ex<'b>, pre: &mut Pres<'b>) -> Ex<'b> {
        let known = if assign {
            self.names.find(name)
        } else {
            let place = Place::Cell(self.names.fresh());
            let binding = Binding { doubtful: self.doubt > 0, ..Binding::at(place) };
            self.names.declare(name, binding);
            Some(binding)
        };
        let cell = match known {
            Some(Binding { place: Place::Cell(cell), .. }) => cell,
            _ => self.names.fresh(),
        };
        pre.push(Pre::Set(cell, value));
        if known.is_none() {
            // The parser lets pass what the execution refuses.
            let fault = self.fault(&format!("undefined variable: {name}"));
            pre.push(Pre::Set(cell, fault));
        }
        self.place(Place::Cell(cell), Known::Any)
    }

    fn command(&mut self, command: &'a Command<'a>, piped: Option<Ex<'b>>, pre: &mut Pres<'b>) -> Ex<'b> {
        let (first, args) = (command.args[0], &command.args[1..]);
        match first {
            Operand::Field(field) => {
                self.at = first.into();
                let base = self.dot_base();
                self.fields(base, &field.text[1..], first, args, piped, pre)
            }
            Operand::Variable(variable) if variable.text.contains('.') => {
                self.at = first.into();
                let (base, fields) = self.variable_base(variable);
                self.fields(base, fields, first, args, piped, pre)
            }
            Operand::Chain(chain) => {
                // What is piped comes first.
                let piped = piped.map(|ex| if ex.is_stable() { ex } else { self.hoist(ex, pre) });
                let base = self.chain_base(chain, pre);
                self.fields(base, &chain.text[1..], first, args, piped, pre)
            }
            Operand::Identifier(identifier) => self.call(identifier, command.into(), args, piped, pre),
            Operand::Variable(variable) => {
                self.at = first.into();
                let (base, _) = self.variable_base(variable);
                if !args.is_empty() || piped.is_some() {
                    return self.no_function(first, piped, pre);
                }
                base.ex
            }
            Operand::Pipe(pipe) => {
                if !args.is_empty() || piped.is_some() {
                    return self.no_function(first, piped, pre);
                }
                self.pipe(pipe, pre)
            }
            Operand::Bool(_)
            | Operand::Dot(_)
            | Operand::Nil(_)
            | Operand::Number(_)
            | Operand::String(_) => {
                self.at = first.into();
                if !args.is_empty() || piped.is_some() {
                    return self.no_function(first, piped, pre);
                }
                match first {
                    Operand::Nil(_) => self.fault("nil is not a command"),
                    Operand::Dot(_) => self.place(self.dot.place, Known::Any),
                    _ => self.ideal(first),
                }
            }
        }
    }

    /// The Go type of what `range` gives of a pipeline, if it is known and no `interface {}`.
    pub(super) fn elements(&self, pipe: &Pipe<'a>) -> Option<&'static str> {
        let last = pipe.cmds.last()?;
        match (last.args.first()?, pipe.cmds.len(), last.args.len()) {
            (Operand::Identifier(identifier), ..) => self.vocabulary.elements(identifier.name),
            (Operand::Number(number), 1, 1) if number.int.is_some() => Some("int"),
            (Operand::Pipe(inner), 1, 1) => self.elements(inner),
            (Operand::Variable(variable), 1, 1) if !variable.text.contains('.') => {
                self.names.find(variable.text).and_then(|binding| binding.items)
            }
            (Operand::Field(Field { text, .. }) | Operand::Variable(Variable { text, .. }), 1, _) => {
                self.vocabulary.elements(text.trim_start_matches(|c| c != '.'))
            }
            _ => None,
        }
    }

    fn no_function(&mut self, operand: Operand<'a>, piped: Option<Ex<'b>>, pre: &mut Pres<'b>) -> Ex<'b> {
        self.before_fault(piped, pre);
        self.fault(&format!("can't give argument to non-function {}", written(operand)))
    }

    /// A call of a function. `node` is what its errors name.
    pub(super) fn call(
        &mut self,
        identifier: Identifier<'a>,
        node: NodeRef<'a>,
        args: &'a [Operand<'a>],
        piped: Option<Ex<'b>>,
        pre: &mut Pres<'b>,
    ) -> Ex<'b> {
        let name = identifier.name;
        self.at = identifier.into();
        let Some(signature) = self.vocabulary.signature(name) else {
            self.before_fault(piped, pre);
            return self.fault(&format!("{name:?} is not a defined function"));
        };
        let got = args.len() + usize::from(piped.is_some());
        let want = signature.fixed;
        if signature.variadic && got < want {
            let got = args.len();
            self.before_fault(piped, pre);
            return self.fault(&format!("wrong number of args for {name}: want at least {want} got {got}"));
        }
        if !signature.variadic && got != want {
            self.before_fault(piped, pre);
            return self.fault(&format!("wrong number of args for {name}: want {want} got {got}"));
        }
        match name {
            "and" | "or" => {
                let answer = self.short_circuit(identifier, args, piped, pre);
                self.method = None;
                return answer;
            }
            "not" if piped.is_none() => {
                let condition = self.condition_operand(args[0], pre);
                let condition = if condition.is_big() { self.hoist(condition, pre) } else { condition };
                return self.not(condition);
            }
            "not" => {
                let condition = piped.map(|piped| self.truth(piped)).unwrap_or_else(|| self.leaf(Ir::Nil));
                return self.not(condition);
            }
            _ => {}
        }
        let params = |at| self.vocabulary.param(name, at);
        let params: Vec<_> = (0..args.len()).map(params).collect();
        self.measured = name == "len";
        let mut list = self.arguments(None, args, &params, piped, pre);
        self.measured = false;
        self.method = None;
        if name == "call" {
            // Go's `call` names its callee as it is written; what is piped is not written there.
            let callee =
                args.first().map(|callee| self.leaf(Ir::Text(self.arena.alloc_str(&written(*callee)))));
            list.exprs.insert(0, callee.unwrap_or_else(|| self.leaf(Ir::Nil)));
            self.note_arg(
                &mut list.sites,
                0,
                ArgSite { node, absent: node, nil: Nil::Untyped, constant: false },
            );
        }
        let site = self.site(Site { node, before: node, args: list.sites, base: None });
        // What is piped is evaluated first, though it stands last.
        let rotated = usize::from(piped.is_some());
        list.exprs.rotate_right(rotated);
        let args = self.fit(list.exprs, pre);
        args.rotate_left(rotated);
        let args: &'b [Ex<'b>] = args;
        let may_fail = |ex: &Ex<'b>| !ex.is_stable();
        let piped_first = piped.is_some()
            && args.split_last().is_some_and(|(last, others)| may_fail(last) && others.iter().any(may_fail));
        let ir = Ir::Call { name: self.arena.alloc_str(name), args, piped_first, site };
        let mut ex = self.around(ir, args);
        ex.known = signature.answer;
        ex
    }

    /// The arguments of a call, evaluated in Go's order: what is piped first, then what comes before the others, then these from left
    /// to right.
    pub(super) fn arguments(
        &mut self,
        first: Option<Ex<'b>>,
        args: &'a [Operand<'a>],
        params: &[super::Param],
        piped: Option<Ex<'b>>,
        pre: &mut Pres<'b>,
    ) -> Arguments<'a, 'b> {
        let mut list = Arguments { exprs: first.into_iter().collect(), sites: Vec::new() };
        let mut piped = piped;
        let start = pre.len();
        let last = args.iter().zip(params).rposition(|(operand, param)| may_fail(operand, *param));
        for (at, operand) in args.iter().enumerate() {
            let mark = pre.len();
            let (ex, nil) = self.arg(*operand, params[at], last.is_some_and(|last| last > at), pre);
            self.keep_order(&mut list.exprs, mark, pre);
            list.exprs.push(ex);
            let constant = matches!(
                operand,
                Operand::Bool(_) | Operand::Nil(_) | Operand::Number(_) | Operand::String(_)
            );
            self.note_arg(
                &mut list.sites,
                at,
                ArgSite { node: self.at, absent: self.absent(), nil, constant },
            );
        }
        if let Some(ex) = &mut piped {
            // Where nothing of the others runs before the call, the call itself sees to the order.
            if pre.len() > start && !ex.is_stable() {
                let (cell, held) = self.held(*ex);
                pre.insert(start, Pre::Set(cell, *ex));
                *ex = held;
            }
            list.exprs.push(*ex);
            let site = ArgSite { node: self.at, absent: self.at, nil: Nil::Untyped, constant: false };
            self.note_arg(&mut list.sites, args.len(), site);
        }
        list
    }

    /// Takes earlier arguments into variables if statements came since `mark`: either might change what the other evaluates
    /// to, or fail first.
    fn keep_order(&mut self, earlier: &mut [Ex<'b>], mark: usize, pre: &mut Pres<'b>) {
        if pre.len() == mark {
            return;
        }
        for (at, ex) in (mark..).zip(earlier.iter_mut().filter(|ex| !ex.is_stable())) {
            let (cell, held) = self.held(*ex);
            pre.insert(at, Pre::Set(cell, *ex));
            *ex = held;
        }
    }

    /// Takes arguments, in the order of their evaluation, into variables where the call would exceed one of Tera's limits.
    pub(super) fn fit(&mut self, mut args: Vec<Ex<'b>>, pre: &mut Pres<'b>) -> &'b mut [Ex<'b>] {
        let weight: u32 = args.iter().map(|ex| ex.weight).sum();
        let too_big = |ex: &Ex<'b>| {
            ex.depth + 1 > MAX_DEPTH
                || (weight >= MAX_WEIGHT && ex.weight > 0 && !matches!(ex.ir, Ir::Place(Place::Cell(_))))
        };
        if let Some(last) = args.iter().rposition(too_big) {
            for ex in &mut args[..=last] {
                if too_big(ex) || !ex.is_stable() {
                    *ex = self.hoist(*ex, pre);
                }
            }
        }
        self.arena.alloc_slice_copy(&args)
    }

    /// Takes an expression into a variable.
    pub(super) fn hoist(&mut self, ex: Ex<'b>, pre: &mut Pres<'b>) -> Ex<'b> {
        let (cell, held) = self.held(ex);
        pre.push(Pre::Set(cell, ex));
        held
    }

    /// A cell for an expression, and what it will hold.
    fn held(&mut self, ex: Ex<'b>) -> (u32, Ex<'b>) {
        let cell = self.names.fresh();
        (cell, self.place(Place::Cell(cell), ex.known))
    }

    /// `and` and `or` where their value matters. They answer one of their arguments, and evaluate no further than that.
    fn short_circuit(
        &mut self,
        identifier: Identifier<'a>,
        args: &'a [Operand<'a>],
        piped: Option<Ex<'b>>,
        pre: &mut Pres<'b>,
    ) -> Ex<'b> {
        let or = identifier.name == "or";
        let choice = self.tracked.take().filter(|(pos, _)| *pos == identifier.pos).map(|(_, choice)| choice);
        // What is piped is evaluated before, whatever comes of it.
        let piped = piped.map(|ex| if ex.is_stable() || args.is_empty() { ex } else { self.hoist(ex, pre) });
        let mut result: Option<u32> = None;
        for operand in args {
            let mut inner = Vec::new();
            if let Some(choice) = choice {
                self.choose(choice, *operand, &mut inner);
            }
            self.doubt += u32::from(result.is_some());
            let (ex, _) = self.arg(*operand, super::Param::Any, false, &mut inner);
            self.doubt -= u32::from(result.is_some());
            if let Some(choice) = choice {
                self.choices[choice].nodes.push(self.at);
            }
            if args.len() == 1 && piped.is_none() {
                pre.append(&mut inner);
                return ex;
            }
            result = Some(self.or_else(or, result, ex, inner, pre));
        }
        if let Some(ex) = piped {
            if args.is_empty() {
                return ex;
            }
            result = Some(self.or_else(or, result, ex, Vec::new(), pre));
        }
        match result {
            Some(cell) => self.place(Place::Cell(cell), Known::Any),
            None => self.leaf(Ir::Nil),
        }
    }

    /// Has it noted where an `and` or `or` stops, if that is what a pipeline comes down to: the node where it does is the one
    /// that an error names if its answer is of a wrong type.
    pub(super) fn track(&mut self, pipe: &Pipe<'a>) {
        if let Some(pos) = last_short_circuit(pipe) {
            let cell = self.names.fresh();
            self.choices.push(Choice { cell, nodes: Vec::new() });
            self.tracked = Some((pos, self.choices.len() - 1));
        }
    }

    /// Notes that an argument of `and` or `or` is about to be evaluated.
    fn choose(&mut self, choice: usize, operand: Operand<'a>, pre: &mut Pres<'b>) {
        if let Operand::Pipe(pipe) = operand
            && let Some(pos) = last_short_circuit(pipe)
        {
            // Where that one stops is where this one does.
            self.tracked = Some((pos, choice));
        }
        let Choice { cell, nodes } = &self.choices[choice];
        let number = i64::try_from(nodes.len()).unwrap_or(i64::MAX);
        let number = self.leaf(Ir::Int(number));
        pre.push(Pre::Set(*cell, number));
    }

    /// One more argument of `and` or `or`.
    fn or_else(
        &mut self,
        or: bool,
        before: Option<u32>,
        ex: Ex<'b>,
        mut inner: Pres<'b>,
        pre: &mut Pres<'b>,
    ) -> u32 {
        let Some(cell) = before else {
            let cell = self.names.fresh();
            pre.append(&mut inner);
            pre.push(Pre::Set(cell, ex));
            return cell;
        };
        inner.push(Pre::Set(cell, ex));
        let held = self.place(Place::Cell(cell), Known::Any);
        let condition = self.truth(held);
        pre.push(Pre::When { condition, holds: !or, body: self.arena.alloc_slice_copy(&inner) });
        cell
    }

    /// A pipeline of which only the truth matters.
    pub(super) fn condition(&mut self, pipe: &'a Pipe<'a>, pre: &mut Pres<'b>) -> Ex<'b> {
        if let ([Command { args: [Operand::Identifier(identifier), args @ ..], .. }], []) =
            (pipe.cmds, pipe.decl)
            && matches!(identifier.name, "and" | "or")
            && !args.is_empty()
        {
            self.at = (*identifier).into();
            return self.junction(identifier.name == "or", args, pre);
        }
        let value = self.pipe(pipe, pre);
        self.truth(value)
    }

    fn condition_operand(&mut self, operand: Operand<'a>, pre: &mut Pres<'b>) -> Ex<'b> {
        self.at = operand.into();
        if let Operand::Pipe(pipe) = operand {
            return self.condition(pipe, pre);
        }
        let (ex, _) = self.arg(operand, super::Param::Any, false, pre);
        self.truth(ex)
    }

    /// `and` and `or` where only the truth matters.
    fn junction(&mut self, or: bool, args: &'a [Operand<'a>], pre: &mut Pres<'b>) -> Ex<'b> {
        let mut parts: Vec<(Pres<'b>, Ex<'b>)> = Vec::with_capacity(args.len());
        for (at, operand) in args.iter().enumerate() {
            let mut inner = Vec::new();
            self.doubt += u32::from(at > 0);
            let ex = self.condition_operand(*operand, &mut inner);
            self.doubt -= u32::from(at > 0);
            parts.push((inner, ex));
        }
        let weight: u32 = parts.iter().map(|(_, ex)| ex.weight + 1).sum();
        let depth = parts.iter().map(|(_, ex)| ex.depth + 1).max().unwrap_or(0);
        let plain = parts[1..].iter().all(|(inner, _)| inner.is_empty());
        if plain && weight < MAX_WEIGHT && depth < MAX_DEPTH {
            pre.append(&mut parts[0].0);
            let exprs: Vec<_> = parts.into_iter().map(|(_, ex)| ex).collect();
            let exprs: &'b [Ex<'b>] = self.arena.alloc_slice_copy(&exprs);
            if let [ex] = exprs {
                return *ex;
            }
            let mut ex = self.around(if or { Ir::Or(exprs) } else { Ir::And(exprs) }, exprs);
            ex.weight = weight;
            ex.known = Known::Bool;
            return ex;
        }
        let mut result = None;
        for (inner, ex) in parts {
            result = Some(self.or_else(or, result, ex, inner, pre));
        }
        let place = result.map_or(Place::Dot, Place::Cell);
        // What it holds was a condition, so that it needs no further test.
        self.place(place, Known::Bool)
    }

    fn not(&mut self, condition: Ex<'b>) -> Ex<'b> {
        let mut ex = self.around(Ir::Not(condition), &[condition]);
        ex.known = Known::Bool;
        ex
    }

    /// Whether a value is true.
    pub(super) fn truth(&mut self, ex: Ex<'b>) -> Ex<'b> {
        match (ex.known, ex.ir) {
            (Known::Bool | Known::Text, _) => ex,
            (_, Ir::Path { base, path, form: Form::Value, strict, site }) => {
                let form = Form::Truth;
                let ir = Ir::Path { base: *base, path: *path, form, strict: *strict, site: *site };
                Ex { ir: self.arena.alloc(ir), known: Known::Bool, ..ex }
            }
            _ => {
                let mut tested =
                    self.around(Ir::Filter { base: ex, construct: Construct::Truth, site: None }, &[ex]);
                tested.known = Known::Bool;
                tested
            }
        }
    }

    /// A value as Go prints it.
    pub(super) fn printed(&mut self, ex: Ex<'b>) -> Ex<'b> {
        match (ex.known, ex.ir) {
            (Known::Bool | Known::Text, _) => ex,
            (_, Ir::Path { base, path, form: Form::Value, strict, site }) => {
                let form = Form::Print;
                let ir = Ir::Path { base: *base, path: *path, form, strict: *strict, site: *site };
                Ex { ir: self.arena.alloc(ir), known: Known::Text, ..ex }
            }
            _ => {
                let site = Some(self.site(Site::of(self.at)));
                let mut printed =
                    self.around(Ir::Filter { base: ex, construct: Construct::Print, site }, &[ex]);
                printed.known = Known::Text;
                printed
            }
        }
    }

    /// Evaluates what is piped to what will fail: it may fail before.
    fn before_fault(&mut self, piped: Option<Ex<'b>>, pre: &mut Pres<'b>) {
        if let Some(ex) = piped.filter(|ex| !ex.is_stable()) {
            self.hoist(ex, pre);
        }
    }

    /// What fails when Go gets there.
    pub(super) fn fault(&mut self, message: &str) -> Ex<'b> {
        let base = self.leaf(Ir::Text(self.arena.alloc_str(message)));
        let site = Some(self.site(Site::of(self.at)));
        self.around(Ir::Filter { base, construct: Construct::Fault, site }, &[base])
    }

    /// An expression without parts.
    pub(super) fn leaf(&self, ir: Ir<'b>) -> Ex<'b> {
        let known = match ir {
            Ir::Text(_) => Known::Text,
            Ir::Bool(_) => Known::Bool,
            _ => Known::Any,
        };
        Ex { ir: self.arena.alloc(ir), known, weight: 0, depth: 0 }
    }

    /// What is held at a place.
    pub(super) fn place(&self, place: Place, known: Known) -> Ex<'b> {
        let weight = match place {
            Place::Dot | Place::Element(_) => 0,
            Place::PairKey(_) | Place::PairValue(_) | Place::Cell(_) => 1,
        };
        Ex { known, weight, ..self.leaf(Ir::Place(place)) }
    }

    /// An expression around others.
    pub(super) fn around(&self, ir: Ir<'b>, parts: &[Ex<'b>]) -> Ex<'b> {
        Ex {
            ir: self.arena.alloc(ir),
            known: Known::Any,
            weight: 1 + parts.iter().map(|ex| ex.weight).sum::<u32>(),
            depth: 1 + parts.iter().map(|ex| ex.depth).max().unwrap_or(0),
        }
    }

    /// Numbers a site.
    pub(super) fn site(&mut self, site: Site<'a>) -> u32 {
        self.sites.add(site)
    }

    /// Adds the site of an argument, at a place among the others, if sites are kept.
    pub(super) fn note_arg(&self, sites: &mut Vec<ArgSite<'a>>, at: usize, site: ArgSite<'a>) {
        if self.sites.are_kept() {
            sites.insert(at, site);
        }
    }
}

/// An operand as Go prints it by itself: what stands in parentheses without them.
fn written(operand: Operand<'_>) -> String {
    match operand {
        Operand::Pipe(pipe) => print(pipe),
        _ => print(operand),
    }
}

/// The position of the `and` or `or` whose answer is that of a pipeline.
fn last_short_circuit(pipe: &Pipe<'_>) -> Option<usize> {
    let last = pipe.cmds.last()?;
    match last.args {
        [Operand::Identifier(identifier), _, _, ..] if matches!(identifier.name, "and" | "or") => {
            Some(identifier.pos)
        }
        [Operand::Pipe(inner)] => last_short_circuit(inner),
        _ => None,
    }
}
