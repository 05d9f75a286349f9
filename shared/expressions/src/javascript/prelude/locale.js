// Texts of a locale: en-US, whatever is asked for, but for the marks of numbers that some languages write otherwise.
(host) => {
  'use strict';
  const define = (target, name, value) =>
    Reflect.defineProperty(target, name, { value, writable: true, configurable: true, enumerable: false });
  const { abs, max, min } = Math;
  const tag = (locales) => String(Array.isArray(locales) ? locales[0] ?? 'en-US' : locales ?? 'en-US');
  const language = (locales) => tag(locales).split('-')[0];
  const marks = { de: ['.', ','], es: ['.', ','], it: ['.', ','], nl: ['.', ','], pt: ['.', ','], fr: ['\u202f', ','] };
  const signs = { EUR: '\u20ac', USD: '$', GBP: '\u00a3', JPY: '\u00a5' };

  // Two digits that count, and the name of the power of a thousand.
  const powers = [[1e12, 'T', 'trillion'], [1e9, 'B', 'billion'], [1e6, 'M', 'million'], [1e3, 'K', 'thousand']];
  const compact = (amount, locales, options) => {
    const [power, short, long] = powers.find(([least]) => abs(amount) >= least) ?? [1, '', ''];
    const name = options.compactDisplay === 'long' ? ` ${long}` : short;
    const scaled = amount / power;
    const digits = { maximumFractionDigits: max(0, 1 - Math.floor(Math.log10(abs(scaled) || 1))) };
    return number(scaled, locales, digits) + (power === 1 ? '' : name);
  };

  const number = (value, locales, options = {}) => {
    const amount = Number(value);
    if (!Number.isFinite(amount)) return Number.isNaN(amount) ? 'NaN' : amount < 0 ? '-\u221e' : '\u221e';
    const isMoney = options.style === 'currency';
    const isPercent = options.style === 'percent';
    if (options.notation === 'compact') return compact(amount, locales, options);
    const least = options.minimumFractionDigits ?? (isMoney ? 2 : 0);
    const most = options.maximumFractionDigits ?? max(least, isMoney ? 2 : isPercent ? 0 : 3);
    const [group, point] = marks[language(locales)] ?? [',', '.'];
    let [whole, fraction = ''] = abs(isPercent ? amount * 100 : amount).toFixed(min(most, 20)).split('.');
    while (fraction.length > least && fraction.endsWith('0')) fraction = fraction.slice(0, -1);
    whole = whole.padStart(min(options.minimumIntegerDigits ?? 1, 21), '0');
    if (options.useGrouping !== false) whole = whole.replace(/\B(?=(\d{3})+(?!\d))/g, group);
    const digits = fraction ? whole + point + fraction : whole;
    const hasPlus = options.signDisplay === 'always' || options.signDisplay === 'exceptZero' && amount !== 0;
    const sign = amount < 0 && options.signDisplay !== 'never' ? '-' : hasPlus && amount >= 0 ? '+' : '';
    if (isPercent) return `${sign}${digits}%`;
    if (!isMoney) return sign + digits;
    const mark = signs[options.currency] ?? options.currency;
    return point === ',' ? `${sign}${digits}\u00a0${mark}` : `${sign}${mark}${digits}`;
  };
  define(Number.prototype, 'toLocaleString', function toLocaleString(locales, options) {
    return number(this, locales, options);
  });

  // Letters before their case, accents after letters, as people sort.
  const plain = (text) => text.normalize('NFD').replace(/[\u0300-\u036f]/g, '');
  const order = (a, b) => (a < b ? -1 : a > b ? 1 : 0);
  const parts = (text) => text.match(/\d+|\D+/g) ?? [];
  const byNumbers = (a, b) => {
    const [first, second] = [parts(a), parts(b)];
    for (let at = 0; at < min(first.length, second.length); at += 1) {
      const bothCount = /^\d/.test(first[at]) && /^\d/.test(second[at]);
      const found = bothCount ? order(Number(first[at]), Number(second[at])) : order(first[at], second[at]);
      if (found) return found;
    }
    return order(first.length, second.length);
  };
  const collate = (a, b, options = {}) => {
    const compare = options.numeric ? byNumbers : order;
    const [first, second] = [String(a), String(b)];
    const letters = compare(plain(first).toLowerCase(), plain(second).toLowerCase());
    if (letters || options.sensitivity === 'base') return letters;
    const accents = compare(first.toLowerCase(), second.toLowerCase());
    if (accents || options.sensitivity === 'accent') return accents;
    return -compare(first, second);
  };
  define(String.prototype, 'localeCompare', function localeCompare(other, _locales, options) {
    return collate(this, other, options);
  });

  class NumberFormat {
    #locales; #options;
    constructor(locales, options) { this.#locales = locales; this.#options = options; }
    format(value) { return number(value, this.#locales, this.#options); }
    resolvedOptions() { return { locale: tag(this.#locales), numberingSystem: 'latn', ...this.#options }; }
  }
  class Collator {
    #options;
    constructor(_locales, options) { this.#options = options; }
    compare(a, b) { return collate(a, b, this.#options); }
  }
  class PluralRules {
    select(count) { return Number(count) === 1 ? 'one' : 'other'; }
  }
  class ListFormat {
    #word;
    constructor(_locales, options = {}) { this.#word = options.type === 'disjunction' ? 'or' : 'and'; }
    format(list) {
      const items = [...list];
      if (items.length < 3) return items.join(` ${this.#word} `);
      return `${items.slice(0, -1).join(', ')}, ${this.#word} ${items.at(-1)}`;
    }
  }
  define(globalThis, 'Intl', { NumberFormat, Collator, PluralRules, ListFormat });
}
