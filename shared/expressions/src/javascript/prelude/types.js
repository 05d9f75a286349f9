// The .NET types Elsa's scripts construct, as far as scripts use them. Times are whole milliseconds, and a
// DateTime is always UTC. Loaded when a script first uses one of them.
(host) => {
  'use strict';
  const { trunc, floor, abs } = Math;
  const pad = (number, width = 2) => String(number).padStart(width, '0');
  const [second, minute, hour, day] = [1000, 60000, 3600000, 86400000];

  class TimeSpan {
    #ms;
    constructor(...parts) {
      const [days, hours, minutes, seconds, ms] =
        parts.length === 1 ? [0, 0, 0, 0, parts[0] / 10000]
          : parts.length <= 3 ? [0, ...parts] : parts;
      this.#ms = (days || 0) * day + (hours || 0) * hour + (minutes || 0) * minute + (seconds || 0) * second + (ms || 0);
    }
    static of(ms) { return new TimeSpan(Number(ms) * 10000); }
    static FromDays(value) { return TimeSpan.of(value * day); }
    static FromHours(value) { return TimeSpan.of(value * hour); }
    static FromMinutes(value) { return TimeSpan.of(value * minute); }
    static FromSeconds(value) { return TimeSpan.of(value * second); }
    static FromMilliseconds(value) { return TimeSpan.of(value); }
    static FromTicks(value) { return new TimeSpan(value); }
    static Parse(text) {
      const match = /^\s*(-)?(?:(\d+)\.)?(\d+):(\d+)(?::(\d+)(?:\.(\d{1,7}))?)?\s*$/.exec(text);
      const days = /^\s*(-?\d+)\s*$/.exec(text);
      if (days) return TimeSpan.FromDays(Number(days[1]));
      if (!match) throw new TypeError(`'${text}' is not a time span`);
      const ms = (match[2] || 0) * day + match[3] * hour + match[4] * minute + (match[5] || 0) * second
        + Number(`0.${match[6] || 0}`) * second;
      return TimeSpan.of(match[1] ? -ms : ms);
    }
    get TotalMilliseconds() { return this.#ms; }
    get TotalSeconds() { return this.#ms / second; }
    get TotalMinutes() { return this.#ms / minute; }
    get TotalHours() { return this.#ms / hour; }
    get TotalDays() { return this.#ms / day; }
    get Ticks() { return this.#ms * 10000; }
    get Days() { return trunc(this.#ms / day); }
    get Hours() { return trunc(this.#ms / hour) % 24; }
    get Minutes() { return trunc(this.#ms / minute) % 60; }
    get Seconds() { return trunc(this.#ms / second) % 60; }
    get Milliseconds() { return trunc(this.#ms) % 1000; }
    Add(other) { return TimeSpan.of(this.#ms + other.#ms); }
    Subtract(other) { return TimeSpan.of(this.#ms - other.#ms); }
    Multiply(factor) { return TimeSpan.of(this.#ms * factor); }
    Divide(factor) { return TimeSpan.of(this.#ms / factor); }
    Negate() { return TimeSpan.of(-this.#ms); }
    Duration() { return TimeSpan.of(abs(this.#ms)); }
    CompareTo(other) { return Math.sign(this.#ms - other.#ms); }
    Equals(other) { return other instanceof TimeSpan && this.#ms === other.#ms; }
    ToString() { return this.toString(); }
    toString() {
      const ms = abs(this.#ms);
      const days = floor(ms / day);
      const fraction = floor((ms % second) * 10000);
      return `${this.#ms < 0 ? '-' : ''}${days ? `${days}.` : ''}${pad(floor(ms / hour) % 24)}:${pad(floor(ms / minute) % 60)}:${pad(floor(ms / second) % 60)}${fraction ? `.${pad(fraction, 7)}` : ''}`;
    }
    text$() { return this.toString(); }
    // The members that .NET's object shows, in its order.
    toJSON() {
      return {
        Ticks: this.Ticks, Days: this.Days, Hours: this.Hours, Milliseconds: this.Milliseconds, Microseconds: 0,
        Nanoseconds: 0, Minutes: this.Minutes, Seconds: this.Seconds, TotalDays: this.TotalDays,
        TotalHours: this.TotalHours, TotalMilliseconds: this.TotalMilliseconds,
        TotalMicroseconds: this.#ms * 1000, TotalNanoseconds: this.#ms * 1000000,
        TotalMinutes: this.TotalMinutes, TotalSeconds: this.TotalSeconds,
      };
    }
    valueOf() { return this.#ms; }
  }
  TimeSpan.Zero = TimeSpan.of(0);

  const daysIn = (year, month) => new Date(Date.UTC(year, month, 0)).getUTCDate();

  const fromParts = (year, month = 1, date = 1, hours = 0, minutes = 0, seconds = 0, ms = 0) => {
    const result = new Date(0);
    result.setUTCFullYear(year, month - 1, date);
    result.setUTCHours(hours, minutes, seconds, ms);
    return Number(result);
  };
  // As in Elsa, a date of .NET is a Date to scripts: it has the members of one, and no others.
  const least = -62135596800000;
  const dated = (ms) => {
    if (!Number.isFinite(ms)) throw new TypeError('not a valid date');
    return new Date(ms);
  };
  const statics = (type) => {
    const accessors = {
      Now: () => dated(host.now()),
      UtcNow: () => dated(host.now()),
      MinValue: () => dated(least),
      MaxValue: () => dated(253402300799999),
      UnixEpoch: () => dated(0),
    };
    for (const name of Object.keys(accessors)) {
      Object.defineProperty(type, name, { get: accessors[name], configurable: true });
    }
  };

  class DateTime {
    constructor(...parts) {
      const [first] = parts;
      if (parts.length === 0) return dated(least);
      if (parts.length === 1) return dated(typeof first === 'number' ? first / 10000 + least : Number(new Date(first)));
      return dated(fromParts(...parts));
    }
    static Parse(text) { return dated(Date.parse(text)); }
    static get Today() { return dated(floor(host.now() / day) * day); }
    static DaysInMonth(year, month) { return daysIn(year, month); }
    static IsLeapYear(year) { return daysIn(year, 2) === 29; }
  }
  statics(DateTime);

  class DateTimeOffset {
    constructor(...parts) {
      const [first, second] = parts;
      const span = parts.at(-1);
      const offset = span instanceof TimeSpan ? span.TotalMilliseconds : 0;
      if (parts.length <= 2 && (typeof first !== 'number' || second instanceof TimeSpan)) {
        return dated((typeof first === 'number' ? first / 10000 + least : Number(new Date(first))) - offset);
      }
      return dated(fromParts(...parts.filter((part) => !(part instanceof TimeSpan))) - offset);
    }
    static Parse(text) { return dated(Date.parse(text)); }
    static FromUnixTimeSeconds(value) { return dated(value * second); }
    static FromUnixTimeMilliseconds(value) { return dated(Number(value)); }
  }
  statics(DateTimeOffset);

  class Guid {
    #text;
    constructor(text = '00000000-0000-0000-0000-000000000000') {
      const hex = String(text).replace(/[-{}()\s]/g, '').toLowerCase();
      if (!/^[0-9a-f]{32}$/.test(hex)) throw new TypeError(`'${text}' is not a GUID`);
      this.#text = hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
    }
    static NewGuid() { return new Guid(host.newGuid()); }
    static Parse(text) { return new Guid(text); }
    Equals(other) { return String(other) === this.#text; }
    ToString(format) { return format === 'N' ? this.#text.replaceAll('-', '') : this.#text; }
    toString() { return this.#text; }
    text$() { return this.#text; }
    toJSON() { return { Variant: parseInt(this.#text[19], 16), Version: parseInt(this.#text[14], 16) }; }
  }
  Guid.Empty = new Guid();

  class Random {
    Next(...range) {
      const [low, high] = range.length === 2 ? range : [0, range.length === 1 ? range[0] : 2147483647];
      return floor(host.random() * (high - low)) + low;
    }
    NextInt64(...range) { return this.Next(...range); }
    NextDouble() { return host.random(); }
    NextSingle() { return host.random(); }
  }
  Random.Shared = new Random();

  class HttpHeaders {
    constructor(entries = {}) { Object.assign(this, entries); }
  }

  const LogPersistenceMode = { Inherit: 'Inherit', Include: 'Include', Exclude: 'Exclude' };
  return { TimeSpan, DateTime, DateTimeOffset, Guid, Random, HttpHeaders, LogPersistenceMode };
}
