//! What a C# script is made of.

/// Why a text is no script of the subset, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Problem {
    pub(super) message: String,
    pub(super) line: u32,
}

impl Problem {
    pub(super) fn new(message: impl Into<String>, line: u32) -> Self {
        Self {
            message: message.into(),
            line,
        }
    }
}

/// A type as it is written, without its namespace.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Type {
    pub(super) name: String,
    pub(super) arguments: Vec<Type>,
    pub(super) is_array: bool,
    /// It may be null although its values are no objects: `int?`.
    pub(super) is_nullable: bool,
    /// It was written with its namespace.
    pub(super) is_qualified: bool,
}

impl Type {
    pub(super) fn is(&self, name: &str) -> bool {
        !self.is_array && self.name == name
    }
}

#[derive(Debug)]
pub(super) enum Literal {
    Null,
    Bool(bool),
    Int(i32),
    Long(i64),
    Single(f32),
    Double(f64),
    Decimal(String),
    Text(String),
    Char(char),
}

#[derive(Debug)]
pub(super) enum Part {
    Text(String),
    Value {
        value: Expr,
        width: i32,
        format: String,
    },
}

/// What stands in braces behind `new`.
#[derive(Debug)]
pub(super) enum Item {
    /// A value.
    Value(Expr),
    /// `Name = value`.
    Member(String, Expr),
    /// `[key] = value` or `{ key, value }`.
    Entry(Expr, Expr),
}

#[derive(Debug)]
pub(super) struct Arm {
    pub(super) pattern: Pattern,
    pub(super) guard: Option<Expr>,
    pub(super) value: Expr,
}

#[derive(Debug)]
pub(super) enum Expr {
    Literal(Literal),
    Name(String),
    Text(Vec<Part>),
    Member {
        of: Box<Expr>,
        name: String,
        or_null: bool,
    },
    Index {
        of: Box<Expr>,
        at: Box<Expr>,
        or_null: bool,
    },
    Call {
        of: Box<Expr>,
        types: Vec<Type>,
        arguments: Vec<Expr>,
    },
    New {
        of: Type,
        arguments: Vec<Expr>,
        items: Vec<Item>,
    },
    NewArray {
        of: Option<Type>,
        length: Option<Box<Expr>>,
        items: Vec<Expr>,
    },
    Anonymous(Vec<(String, Expr)>),
    List(Vec<Expr>),
    Spread(Box<Expr>),
    Unary(&'static str, Box<Expr>),
    Step {
        of: Box<Expr>,
        by: i32,
        is_prefix: bool,
    },
    Binary(&'static str, Box<Expr>, Box<Expr>),
    Assign(&'static str, Box<Expr>, Box<Expr>),
    Choice(Box<Expr>, Box<Expr>, Box<Expr>),
    Cast(Type, Box<Expr>),
    As(Box<Expr>, Type),
    Is(Box<Expr>, Box<Pattern>),
    Switch(Box<Expr>, Vec<Arm>),
    Lambda(Vec<Parameter>, Box<Body>),
    Query(Vec<Clause>),
    /// `value with { Name = … }`
    With(Box<Expr>, Vec<(String, Expr)>),
    /// Whole numbers that do not fit are an error: `checked(…)`.
    Checked(bool, Box<Expr>),
    Await(Box<Expr>),
    /// `name: value` among arguments.
    Named(String, Box<Expr>),
    Tuple(Vec<(Option<String>, Expr)>),
    TypeOf(Type),
    Default(Option<Type>),
    Throw(Box<Expr>),
    FromEnd(Box<Expr>),
    /// Members and calls behind a `?.`: null as a whole where that meets null.
    Chain(Box<Expr>),
    Range(Option<Box<Expr>>, Option<Box<Expr>>),
    /// `out var name`
    Out(String),
    /// `ref name`
    Ref(String),
    /// A type where a value could stand: `int` in `int.Parse`.
    Type(Type),
}

/// A clause of a query.
#[derive(Debug)]
pub(super) enum Clause {
    From(String, Expr),
    Where(Expr),
    Let(String, Expr),
    /// Keys, and whether they descend.
    OrderBy(Vec<(Expr, bool)>),
    Join {
        name: String,
        items: Expr,
        left: Expr,
        right: Expr,
        into: Option<String>,
    },
    /// A value, the key that it is grouped by, and a name for the query that goes on.
    Select(Expr, Option<Expr>, Option<String>),
}

#[derive(Debug, Default)]
pub(super) struct Parameter {
    pub(super) name: String,
    pub(super) of: Type,
    pub(super) default: Option<Expr>,
    /// It takes all arguments that are left: `params`.
    pub(super) is_list: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ClassKind {
    Class,
    Struct,
    Record,
    Enum,
    Interface,
}

/// A type that a script declares.
#[derive(Debug)]
pub(super) struct Class {
    pub(super) name: String,
    pub(super) kind: ClassKind,
    pub(super) parameters: Vec<Parameter>,
    pub(super) base: Option<String>,
    pub(super) base_arguments: Vec<Expr>,
    pub(super) members: Vec<ClassMember>,
}

#[derive(Debug)]
pub(super) enum ClassMember {
    /// A field or a property without code; `is_shown`: it is written as JSON.
    Field {
        name: String,
        of: Type,
        value: Option<Expr>,
        is_static: bool,
        is_shown: bool,
    },
    Computed {
        name: String,
        body: Body,
        is_shown: bool,
    },
    Method {
        name: String,
        parameters: Vec<Parameter>,
        body: Body,
    },
    /// `first`: `this` or `base` with the arguments that are given on.
    Constructor {
        parameters: Vec<Parameter>,
        first: (String, Vec<Expr>),
        body: Body,
    },
}

#[derive(Debug)]
pub(super) enum Body {
    Value(Expr),
    Block(Vec<Statement>),
}

#[derive(Debug)]
pub(super) enum Pattern {
    Constant(Expr),
    Relation(&'static str, Expr),
    Type(Type, Option<String>),
    Any(Option<String>),
    And(Box<Pattern>, Box<Pattern>),
    Or(Box<Pattern>, Box<Pattern>),
    Not(Box<Pattern>),
    /// `Type { Name: pattern } name`
    Members(Option<Type>, Vec<(Vec<String>, Pattern)>, Option<String>),
    /// `(pattern, pattern)`
    Tuple(Vec<Pattern>),
    /// `[pattern, .., pattern]`; `None` stands for the rest.
    List(Vec<Option<Pattern>>),
}

#[derive(Debug)]
pub(super) struct Catch {
    pub(super) of: Option<Type>,
    pub(super) name: Option<String>,
    pub(super) guard: Option<Expr>,
    pub(super) body: Vec<Statement>,
}

/// Patterns with their guards (`None`: `default`), and what runs under them.
pub(super) type Section = (Vec<Option<(Pattern, Option<Expr>)>>, Vec<Statement>);

#[derive(Debug)]
pub(super) enum Statement {
    /// Declares names of a type; without one, its kind comes from the value.
    Local(Option<Type>, Vec<(String, Option<Expr>)>),
    Unpack(Vec<String>, Expr),
    /// Whether it may stand with a semicolon is seen by the parser.
    Value(Expr),
    If(Expr, Box<Statement>, Option<Box<Statement>>),
    While(Expr, Box<Statement>),
    Do(Box<Statement>, Expr),
    For(Vec<Statement>, Option<Expr>, Vec<Expr>, Box<Statement>),
    ForEach(Vec<String>, Expr, Box<Statement>),
    Return(Option<Expr>),
    Break,
    Continue,
    Try(Vec<Statement>, Vec<Catch>, Vec<Statement>),
    Block(Vec<Statement>),
    Switch(Expr, Vec<Section>),
    Function(String, Vec<Parameter>, Body),
    Class(Class),
    /// `checked { }` and `unchecked { }`
    Checked(bool, Vec<Statement>),
    Yield(Option<Expr>),
    /// `throw;`
    Rethrow,
    Label(String),
    Goto(String),
}
