// Freezes everything scripts share, so that no script can leave anything behind for the next one.
(host) => {
  'use strict';
  const { ownKeys, getOwnPropertyDescriptor, defineProperty, getPrototypeOf } = Reflect;

  // No code comes from text here: a script that names eval or Function gets an interpreter of its own.
  const refuse = (original) => {
    const refused = function Function() { throw new EvalError('code from text is not available here'); };
    defineProperty(refused, 'prototype', { value: original.prototype, writable: false });
    defineProperty(original.prototype, 'constructor', { value: refused, writable: false, configurable: false });
    return refused;
  };
  const samples = [function () {}, function* () {}, async () => {}, async function* () {}];
  const [refusedFunction] = samples.map((sample) => refuse(getPrototypeOf(sample).constructor));
  defineProperty(globalThis, 'Function', { value: refusedFunction });
  delete globalThis.eval;

  // An inherited property that cannot be written would also forbid `error.name = …` and
  // `object.toString = …`. As accessors they behave as if they could be.
  const softened = [Object.prototype];
  for (const name of ownKeys(globalThis)) {
    const { value } = getOwnPropertyDescriptor(globalThis, name);
    if (typeof value === 'function' && (value === Error || getPrototypeOf(value) === Error)) softened.push(value.prototype);
  }
  const soften = (owner, key) => {
    const descriptor = getOwnPropertyDescriptor(owner, key);
    if (!descriptor || !('value' in descriptor) || !descriptor.configurable) return;
    const { value } = descriptor;
    const accessor = {
      get() { return value; },
      set(replacement) {
        if (this === owner) throw new TypeError(`'${String(key)}' is read-only`);
        const own = getOwnPropertyDescriptor(this, key);
        if (own) this[key] = replacement;
        else defineProperty(this, key, { value: replacement, writable: true, enumerable: true, configurable: true });
      },
    };
    defineProperty(owner, key, { ...accessor, enumerable: false, configurable: false });
  };
  for (const owner of softened) for (const key of ownKeys(owner)) soften(owner, key);
  for (const type of [Array, refusedFunction, Date, RegExp, Promise, Map, Set]) {
    soften(type.prototype, 'toString');
    soften(type.prototype, 'constructor');
  }

  // Setters with a hidden effect on the whole interpreter.
  for (const name of ['prepareStackTrace', 'stackTraceLimit']) {
    const value = Error[name];
    delete Error[name];
    defineProperty(Error, name, { value, writable: false, enumerable: false, configurable: false });
  }

  const hidden = [
    ...samples.map((sample) => getPrototypeOf(sample)),
    host.expando, host.dictionary, host.texts, host.node,
    [][Symbol.iterator](), new Map()[Symbol.iterator](), new Set()[Symbol.iterator](), ''[Symbol.iterator](),
    ''.matchAll(/a/g), [].values().map((item) => item), Iterator.from({ next() {} }),
    (function* () {})(), (async function* () {})(),
    getOwnPropertyDescriptor((function () { 'use strict'; return arguments; })(), 'callee').get,
  ];

  const { freeze } = Object;
  const seen = new Set();
  const pending = [...hidden];
  const visit = (value) => {
    if (typeof value === 'function') {
      // Most of all are plain functions, with a length and a name and nothing behind them.
      if (ownKeys(value).length === 2) freeze(value); else pending.push(value);
    } else if (typeof value === 'object' && value !== null) pending.push(value);
  };
  // The global object itself stays open, for scripts that assign undeclared names; its contents do not.
  for (const key of ownKeys(globalThis)) {
    const descriptor = getOwnPropertyDescriptor(globalThis, key);
    visit(descriptor.value);
    visit(descriptor.get);
    visit(descriptor.set);
    if (descriptor.configurable) {
      defineProperty(globalThis, key, 'value' in descriptor ? { writable: false, configurable: false } : { configurable: false });
    }
  }
  const walk = () => {
    while (pending.length > 0) {
      const object = pending.pop();
      if (object === globalThis || seen.has(object)) continue;
      seen.add(object);
      visit(getPrototypeOf(object));
      for (const key of ownKeys(object)) {
        const descriptor = getOwnPropertyDescriptor(object, key);
        if ('value' in descriptor) visit(descriptor.value); else { visit(descriptor.get); visit(descriptor.set); }
      }
      freeze(object);
    }
  };
  walk();
  host.freeze = (value) => {
    visit(value);
    walk();
    return value;
  };
}
