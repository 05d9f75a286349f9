// Code from text, where a script has an interpreter of its own.
//
// The compiler does not survive running out of memory, so it starts only where there is enough. And eval is
// always the indirect one: it sees the global names.
(host) => {
  'use strict';
  const { construct, defineProperty, getPrototypeOf } = Reflect;
  const nativeEval = eval;
  const define = (owner, name, value) => defineProperty(owner, name, { value, writable: true, configurable: true });

  define(globalThis, 'eval', (text) => {
    if (typeof text !== 'string') return text;
    host.reserveForText(text.length);
    return nativeEval(text);
  });
  const samples = [function () {}, function* () {}, async () => {}, async function* () {}];
  for (const sample of samples) {
    const native = getPrototypeOf(sample).constructor;
    const guarded = function Function(...parts) {
      const texts = parts.map(String);
      host.reserveForText(texts.join().length);
      const isPlain = new.target === undefined || new.target === guarded;
      return construct(native, texts, isPlain ? native : new.target);
    };
    defineProperty(guarded, 'prototype', { value: native.prototype, writable: false });
    define(native.prototype, 'constructor', guarded);
    if (sample === samples[0]) define(globalThis, 'Function', guarded);
  }
}
