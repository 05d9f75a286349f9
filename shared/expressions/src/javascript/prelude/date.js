// The clock and the time zone of scripts: the instance's own time, and UTC wherever the process runs.
(host) => {
  'use strict';
  const NativeDate = Date;
  const prototype = NativeDate.prototype;
  const { construct, defineProperty } = Reflect;
  const nativeParse = NativeDate.parse;
  const nativeUtc = NativeDate.UTC;
  const isoWithoutZone = /^((?:[+-]\d\d)?\d{4}(?:-\d\d(?:-\d\d)?)?)[T ](\d\d:\d\d(?::\d\d(?:[.,]\d+)?)?)$/;
  const zone = /(?:[zZ]|\b(?:GMT|UTC|UT|[ECMP][DS]T|WES?T|CES?T|EES?T)\b|:\d\d.*[+-]\d\d)/;
  const test = (pattern, text) => RegExp.prototype.exec.call(pattern, text);

  // A text without a zone means local time, which is UTC here.
  const parse = (value) => {
    const text = String(value).trim();
    const iso = test(isoWithoutZone, text);
    if (iso) return nativeParse(`${iso[1]}T${iso[2]}Z`);
    if (/^[+-]?\d+(-\d+){0,2}$/.test(text) || test(zone, text)) return nativeParse(text);
    return nativeParse(`${text} UTC`);
  };

  const time = (args) => {
    if (args.length === 0) return host.now();
    if (args.length > 1) return nativeUtc(...args);
    const value = args[0];
    if (value instanceof NativeDate) return prototype.getTime.call(value);
    const primitive = typeof value === 'object' && value !== null ? toPrimitive(value) : value;
    return typeof primitive === 'string' ? parse(primitive) : Number(primitive);
  };

  const toPrimitive = (object) => {
    const convert = object[Symbol.toPrimitive];
    if (convert != null) return convert.call(object, 'default');
    const value = object.valueOf();
    return typeof value === 'object' ? object.toString() : value;
  };

  function UtcDate(...args) {
    if (new.target === undefined) return new UtcDate().toString();
    return construct(NativeDate, [time(args)], new.target);
  }
  const define = (target, name, value) =>
    defineProperty(target, name, { value, writable: true, configurable: true, enumerable: false });
  define(UtcDate, 'name', 'Date');
  define(UtcDate, 'length', 7);
  define(UtcDate, 'UTC', nativeUtc);
  define(UtcDate, 'now', () => host.now());
  define(UtcDate, 'parse', parse);
  defineProperty(UtcDate, 'prototype', { value: prototype, writable: false });
  define(prototype, 'constructor', UtcDate);
  define(globalThis, 'Date', UtcDate);

  const fields = ['FullYear', 'Month', 'Date', 'Day', 'Hours', 'Minutes', 'Seconds', 'Milliseconds'];
  for (const field of fields) {
    define(prototype, `get${field}`, prototype[`getUTC${field}`]);
    if (field !== 'Day') define(prototype, `set${field}`, prototype[`setUTC${field}`]);
  }
  define(prototype, 'getTimezoneOffset', function getTimezoneOffset() {
    return prototype.getTime.call(this) * 0;
  });
  define(prototype, 'getYear', function getYear() { return this.getUTCFullYear() - 1900; });
  define(prototype, 'setYear', function setYear(year) {
    const full = Number(year);
    return this.setUTCFullYear(full >= 0 && full <= 99 ? 1900 + Math.trunc(full) : full);
  });

  // toUTCString is "Mon, 15 Jan 2024 10:30:00 GMT".
  const utc = prototype.toUTCString;
  const render = (name, format) =>
    define(prototype, name, { [name]() {
      const text = utc.call(this);
      return text === 'Invalid Date' ? text : format(text.split(' '), this);
    } }[name]);
  const day = ([weekday, date, month, year]) => `${weekday.slice(0, 3)} ${month} ${date} ${year}`;
  const clock = (parts) => `${parts[4]} GMT+0000 (Coordinated Universal Time)`;
  render('toString', (parts) => `${day(parts)} ${clock(parts)}`);
  render('toDateString', day);
  render('toTimeString', clock);

  define(Math, 'random', () => host.random());
}
