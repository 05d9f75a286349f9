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

  const weekdays = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday'];
  const daysIn = (year, month) => new Date(Date.UTC(year, month, 0)).getUTCDate();

  // Marks a call that gives milliseconds and offset: ticks of .NET are more than a double can count.
  const exactly = Symbol('exactly');

  // What DateTime and DateTimeOffset share: an instant, seen at an offset from UTC in minutes.
  class Instant {
    #ms;
    #offset;
    constructor(ms, offset) {
      if (!Number.isFinite(ms)) throw new TypeError('not a valid date');
      this.#ms = ms;
      this.#offset = offset;
    }
    get #local() { return new Date(this.#ms + this.#offset * minute); }
    get #type() { return this.constructor; }
    get #offsetMinutes() { return this.#offset; }
    at(ms) { return this.#type.of(ms, this.#offset); }
    get Year() { return this.#local.getUTCFullYear(); }
    get Month() { return this.#local.getUTCMonth() + 1; }
    get Day() { return this.#local.getUTCDate(); }
    get Hour() { return this.#local.getUTCHours(); }
    get Minute() { return this.#local.getUTCMinutes(); }
    get Second() { return this.#local.getUTCSeconds(); }
    get Millisecond() { return this.#local.getUTCMilliseconds(); }
    get DayOfWeek() { return weekdays[this.#local.getUTCDay()]; }
    get DayOfYear() { return floor((this.#local - Date.UTC(this.Year, 0, 1)) / day) + 1; }
    get Ticks() { return (this.#ms + this.#offset * minute + 62135596800000) * 10000; }
    get TimeOfDay() { return TimeSpan.of(((Number(this.#local) % day) + day) % day); }
    get Date() { return this.Add(this.TimeOfDay.Negate()); }
    get Offset() { return TimeSpan.FromMinutes(this.#offset); }
    Add(span) { return this.at(this.#ms + span.TotalMilliseconds); }
    AddDays(value) { return this.at(this.#ms + value * day); }
    AddHours(value) { return this.at(this.#ms + value * hour); }
    AddMinutes(value) { return this.at(this.#ms + value * minute); }
    AddSeconds(value) { return this.at(this.#ms + value * second); }
    AddMilliseconds(value) { return this.at(this.#ms + Number(value)); }
    AddMonths(value) {
      const local = this.#local;
      const month = local.getUTCMonth() + trunc(value);
      const last = daysIn(local.getUTCFullYear(), month + 1);
      local.setUTCMonth(month, Math.min(local.getUTCDate(), last));
      return this.at(Number(local) - this.#offset * minute);
    }
    AddYears(value) { return this.AddMonths(trunc(value) * 12); }
    Subtract(other) {
      return other instanceof TimeSpan ? this.at(this.#ms - other.TotalMilliseconds) : TimeSpan.of(this.#ms - Number(other));
    }
    ToUniversalTime() { return this.#type.of(this.#ms, 0); }
    ToLocalTime() { return this.ToUniversalTime(); }
    ToOffset(span) { return this.#type.of(this.#ms, span.TotalMinutes); }
    ToUnixTimeSeconds() { return floor(this.#ms / second); }
    ToUnixTimeMilliseconds() { return this.#ms; }
    CompareTo(other) { return Math.sign(this.#ms - Number(other)); }
    Equals(other) { return other instanceof Instant && this.#ms === other.#ms; }
    ToString(format) {
      const zone = this instanceof DateTimeOffset ? ' zzz' : '';
      return host.formatDate(this.#ms, this.#offset, format == null ? `MM/dd/yyyy HH:mm:ss${zone}` : String(format));
    }
    toString() { return this.ToString(); }
    toJSON() {
      const zone = this.#offset === 0 ? 'Z' : this.ToString('zzz');
      return new Date(this.#ms + this.#offset * minute).toISOString().replace('Z', '') + zone;
    }
    valueOf() { return this.#ms; }
  }

  const fromParts = (year, month = 1, date = 1, hours = 0, minutes = 0, seconds = 0, ms = 0) => {
    const result = new Date(0);
    result.setUTCFullYear(year, month - 1, date);
    result.setUTCHours(hours, minutes, seconds, ms);
    return Number(result);
  };
  const zoned = (text) => /(Z|[+-]\d\d:?\d\d)\s*$/.exec(text);
  const statics = (type) => {
    const accessors = {
      Now: () => type.of(host.now(), 0),
      UtcNow: () => type.of(host.now(), 0),
      MinValue: () => type.of(-62135596800000, 0),
      MaxValue: () => type.of(253402300799999, 0),
      UnixEpoch: () => type.of(0, 0),
    };
    for (const name of Object.keys(accessors)) {
      Object.defineProperty(type, name, { get: accessors[name], configurable: true });
    }
  };

  class DateTime extends Instant {
    constructor(...parts) {
      const [first] = parts;
      if (first === exactly) super(parts[1], 0);
      else if (parts.length === 0) super(-62135596800000, 0);
      else if (parts.length === 1 && typeof first === 'number') super(first / 10000 - 62135596800000, 0);
      else if (parts.length === 1) super(Number(new Date(first)), 0);
      else super(fromParts(...parts), 0);
    }
    static of(ms) { return new DateTime(exactly, ms); }
    static Parse(text) { return DateTime.of(Date.parse(text)); }
    static get Today() { return DateTime.UtcNow.Date; }
    static DaysInMonth(year, month) { return daysIn(year, month); }
    static IsLeapYear(year) { return daysIn(year, 2) === 29; }
    get Kind() { return 'Utc'; }
  }
  statics(DateTime);

  class DateTimeOffset extends Instant {
    constructor(...parts) {
      const [first, second] = parts;
      const span = parts.at(-1);
      const offset = span instanceof TimeSpan ? span.TotalMinutes : 0;
      if (first === exactly) super(second, parts[2]);
      else if (parts.length <= 2 && (typeof first !== 'number' || second instanceof TimeSpan)) {
        const local = typeof first === 'number' ? first / 10000 - 62135596800000 : Number(new Date(first));
        super(local - offset * minute, offset);
      } else {
        const numbers = parts.filter((part) => !(part instanceof TimeSpan));
        super(fromParts(...numbers) - offset * minute, offset);
      }
    }
    static of(ms, offset = 0) { return new DateTimeOffset(exactly, ms, offset); }
    static Parse(text) {
      const zone = zoned(text);
      const sign = zone && zone[1].startsWith('-') ? -1 : 1;
      const digits = zone && zone[1] !== 'Z' ? zone[1].replace(/\D/g, '') : '0000';
      return DateTimeOffset.of(Date.parse(text), sign * (digits.slice(0, 2) * 60 + Number(digits.slice(2))));
    }
    static FromUnixTimeSeconds(value) { return DateTimeOffset.of(value * second); }
    static FromUnixTimeMilliseconds(value) { return DateTimeOffset.of(Number(value)); }
    get DateTime() { return DateTime.of(Number(this) + this.Offset.TotalMilliseconds); }
    get UtcDateTime() { return DateTime.of(Number(this)); }
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
