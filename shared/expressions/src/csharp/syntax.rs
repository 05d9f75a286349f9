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
    Lambda(Vec<String>, Box<Body>),
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
    /// A type where a value could stand: `int` in `int.Parse`.
    Type(Type),
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
}

#[derive(Debug)]
pub(super) struct Catch {
    pub(super) of: Option<Type>,
    pub(super) name: Option<String>,
    pub(super) body: Vec<Statement>,
}

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
    ForEach(String, Expr, Box<Statement>),
    Return(Option<Expr>),
    Break,
    Continue,
    Try(Vec<Statement>, Vec<Catch>, Vec<Statement>),
    Block(Vec<Statement>),
    Switch(Expr, Vec<(Vec<Option<Pattern>>, Vec<Statement>)>),
    Function(String, Vec<String>, Body),
}
