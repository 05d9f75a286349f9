// Builtins that can work natively for hours without asking whether they may. Each is charged for its work
// before it starts; what is no plain array is copied first, in a loop that can be stopped.
(host) => {
  'use strict';
  const { apply, construct, defineProperty } = Reflect;
  const replace = (prototype, name, make) => {
    const native = prototype[name];
    const guarded = make(native);
    for (const key of ['name', 'length']) {
      defineProperty(guarded, key, { value: native[key], configurable: true });
    }
    defineProperty(prototype, name, { value: guarded, writable: true, configurable: true });
  };

  const lengthOf = (list) => Math.min(Math.max(Math.trunc(Number(list.length)) || 0, 0), 2 ** 53 - 1);
  const copyOf = (list) => {
    const copy = [];
    const length = lengthOf(list);
    for (let index = 0; index < length; index += 1) {
      if (index in list) copy[index] = list[index];
      if (index % 1024 === 0) host.charge(1024);
    }
    copy.length = Math.min(length, 2 ** 32 - 1);
    return copy;
  };
  const isList = (value) => typeof value === 'object' && value !== null;

  const reading = ['join', 'toLocaleString', 'slice', 'toSorted', 'toReversed', 'toSpliced', 'with',
    'indexOf', 'lastIndexOf', 'includes'];
  for (const name of reading) {
    replace(Array.prototype, name, (native) => function (...args) {
      if (!isList(this) || host.chargeArray(this)) return apply(native, this, args);
      return apply(native, copyOf(this), args);
    });
  }
  const changing = ['sort', 'reverse', 'splice', 'fill', 'copyWithin', 'unshift', 'shift'];
  for (const name of changing) {
    replace(Array.prototype, name, (native) => function (...args) {
      if (!isList(this) || host.chargeArray(this)) return apply(native, this, args);
      const copy = copyOf(this);
      const result = apply(native, copy, args);
      for (let index = 0; index < copy.length; index += 1) {
        if (index in copy) this[index] = copy[index]; else delete this[index];
      }
      this.length = copy.length;
      return result === copy ? this : result;
    });
  }

  const isSpreadable = (value) => {
    if (!isList(value)) return false;
    const spreadable = value[Symbol.isConcatSpreadable];
    return spreadable === undefined ? Array.isArray(value) : Boolean(spreadable);
  };
  replace(Array.prototype, 'concat', (native) => function (...args) {
    const plain = (value) => !isSpreadable(value) || host.chargeArray(value);
    if (isList(this) && plain(this) && args.every(plain)) return apply(native, this, args);
    const result = [];
    for (const value of [Object(this), ...args]) {
      if (isSpreadable(value)) { for (const item of copyOf(value)) result.push(item); } else result.push(value);
    }
    return result;
  });

  const flatten = (list, depth, result, level) => {
    const length = lengthOf(list);
    for (let index = 0; index < length; index += 1) {
      if (!(index in list)) continue;
      const item = list[index];
      if (depth >= 1 && Array.isArray(item)) flatten(item, depth - 1, result, level + 1);
      else result.push(item);
    }
    return result;
  };
  replace(Array.prototype, 'flat', () => function (depth = 1) {
    return flatten(Object(this), Math.trunc(Number(depth)) || 0, [], 0);
  });
  replace(Array.prototype, 'flatMap', () => function (callback, receiver) {
    if (typeof callback !== 'function') throw new TypeError('not a function');
    return flatten(Array.prototype.map.call(this, callback, receiver), 1, [], 0);
  });

  // A search is naive: text times pattern in the worst case. A replacement is copied for every match.
  const chargeReplacement = (text, search, replacement) => {
    if (text.length * replacement.length < 1e7) return;
    let at = nativeIndexOf(text, search, 0);
    while (at >= 0) {
      host.charge(replacement.length / 16);
      at = nativeIndexOf(text, search, at + Math.max(search.length, 1));
      if (at >= text.length) return;
    }
  };
  const plainIndexOf = String.prototype.indexOf;
  const nativeIndexOf = (text, search, from) => apply(plainIndexOf, text, [search, from]);
  const isLong = 4096;
  const searches = { indexOf: null, lastIndexOf: null, includes: null, startsWith: null, endsWith: null,
    split: 'split', replace: 'replace', replaceAll: 'replace' };
  for (const name of Object.keys(searches)) {
    const symbol = searches[name] && Symbol[searches[name]];
    replace(String.prototype, name, (native) => function (pattern, ...rest) {
      if (this == null) return apply(native, this, [pattern, ...rest]);
      if (this.length > isLong) host.charge(this.length / 16);
      if (pattern instanceof RegExp || symbol && isList(pattern) && pattern[symbol] != null) {
        return apply(native, this, [pattern, ...rest]);
      }
      if (pattern === undefined && symbol) return apply(native, this, arguments);
      const text = String(this);
      const search = String(pattern);
      if (search.length > 16) host.charge(text.length * search.length / 16);
      if (name === 'replaceAll' && typeof rest[0] === 'string') chargeReplacement(text, search, rest[0]);
      return apply(native, text, [search, ...rest]);
    });
  }
  replace(String, 'raw', () => function (strings, ...values) {
    const raw = Object(Object(strings).raw);
    const length = lengthOf(raw);
    let text = '';
    for (let index = 0; index < length; index += 1) {
      text += String(raw[index]);
      if (index + 1 < length && index < values.length) text += String(values[index]);
    }
    return text;
  });

  // What consumes an iterator natively would not notice that it never ends.
  replace(Iterator.prototype, 'drop', () => function (limit) {
    const count = Math.trunc(Number(limit));
    if (!(count >= 0)) throw new RangeError('must be positive');
    const source = { [Symbol.iterator]: () => this };
    return (function* () {
      let left = count;
      for (const item of source) if (left > 0) left -= 1; else yield item;
    })();
  });
  delete Math.sumPrecise;
  const NativeSet = Set;
  const toSet = (set, items) => {
    if (items != null) for (const item of items) set.add(item);
    return set;
  };
  function GuardedSet(items) {
    if (new.target === undefined) throw new TypeError("Class constructor Set cannot be invoked without 'new'");
    return toSet(construct(NativeSet, [], new.target), items);
  }
  for (const key of Reflect.ownKeys(NativeSet)) {
    defineProperty(GuardedSet, key, Reflect.getOwnPropertyDescriptor(NativeSet, key));
  }
  defineProperty(NativeSet.prototype, 'constructor', { value: GuardedSet, writable: true, configurable: true });
  defineProperty(globalThis, 'Set', { value: GuardedSet, writable: true, configurable: true });
  const algebra = ['union', 'intersection', 'difference', 'symmetricDifference', 'isSubsetOf', 'isSupersetOf',
    'isDisjointFrom'];
  for (const name of algebra) {
    replace(NativeSet.prototype, name, (native) => function (other) {
      const keys = { [Symbol.iterator]: () => other.keys() };
      return apply(native, this, [toSet(new NativeSet(), keys)]);
    });
  }

  // A list of names to keep may be endless, too.
  replace(JSON, 'stringify', (native) => function (value, replacer, space) {
    const isArray = Array.isArray(replacer);
    return native(value, isArray && !host.chargeArray(replacer) ? copyOf(replacer) : replacer, space);
  });

  // What takes long for each character of a long text.
  const slow = { String: ['toUpperCase', 'toLowerCase', 'toLocaleUpperCase', 'toLocaleLowerCase', 'normalize',
    'localeCompare', 'match', 'matchAll', 'search'], JSON: ['parse'], globalThis: ['encodeURIComponent', 'encodeURI',
    'decodeURIComponent', 'decodeURI', 'escape', 'unescape'] };
  for (const owner of Object.keys(slow)) {
    for (const name of slow[owner]) {
      const holder = owner === 'String' ? String.prototype : globalThis[owner];
      replace(holder, name, (native) => function (...args) {
        const text = owner === 'String' ? this : args[0];
        if (text != null && text.length > isLong) host.charge(text.length / 4);
        return apply(native, this, args);
      });
    }
  }

  // What copies or searches all of a typed array or a long text.
  const Typed = Object.getPrototypeOf(Int8Array.prototype);
  const typedLength = Object.getOwnPropertyDescriptor(Typed, 'length').get;
  const bulk = ['indexOf', 'lastIndexOf', 'includes', 'fill', 'copyWithin', 'reverse', 'slice', 'set', 'join', 'sort',
    'toSorted', 'toReversed', 'with'];
  for (const name of bulk) {
    if (typeof Typed[name] !== 'function') continue;
    replace(Typed, name, (native) => function (...args) {
      if (isList(this)) host.charge(apply(typedLength, this, []) / 16);
      return apply(native, this, args);
    });
  }
  for (const name of ['slice', 'resize', 'transfer', 'transferToFixedLength']) {
    if (typeof ArrayBuffer.prototype[name] !== 'function') continue;
    replace(ArrayBuffer.prototype, name, (native) => function (...args) {
      if (isList(this)) host.charge((Number(this.byteLength) || 0) / 16);
      return apply(native, this, args);
    });
  }
  for (const name of ['slice', 'substring', 'substr', 'concat', 'repeat', 'padStart', 'padEnd', 'trim', 'at']) {
    if (typeof String.prototype[name] !== 'function') continue;
    replace(String.prototype, name, (native) => function (...args) {
      if (this != null && this.length > isLong) host.charge(this.length / 64);
      return apply(native, this, args);
    });
  }
  for (const name of ['exec', 'test']) {
    replace(RegExp.prototype, name, (native) => function (text) {
      if (typeof text === 'string' && text.length > isLong) host.charge(text.length / 4);
      return apply(native, this, arguments);
    });
  }
}
