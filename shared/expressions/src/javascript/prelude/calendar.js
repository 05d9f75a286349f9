// Dates and times as texts of a locale, as Elsa's engine writes them: parts in the order of the locale, joined alike.
(host) => {
  'use strict';
  const define = (target, name, value) =>
    Reflect.defineProperty(target, name, { value, writable: true, configurable: true, enumerable: false });
  const pad = (number, width = 2) => String(number).padStart(width, '0');
  const tag = (locales) => String(Array.isArray(locales) ? locales[0] ?? 'en-US' : locales ?? 'en-US');

  // Order of day, month and year, what stands between numbers, the short and the long pattern, names.
  const english = {
    months: ['January', 'February', 'March', 'April', 'May', 'June', 'July', 'August', 'September', 'October', 'November',
      'December'],
    days: ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday'],
    cut: 3,
  };
  const names = {
    en: english,
    de: {
      months: ['Januar', 'Februar', 'März', 'April', 'Mai', 'Juni', 'Juli', 'August', 'September', 'Oktober', 'November',
        'Dezember'],
      days: ['Sonntag', 'Montag', 'Dienstag', 'Mittwoch', 'Donnerstag', 'Freitag', 'Samstag'],
      short: ['Jan', 'Feb', 'Mär', 'Apr', 'Mai', 'Jun', 'Jul', 'Aug', 'Sep', 'Okt', 'Nov', 'Dez'],
      cut: 2,
    },
    fr: {
      months: ['janvier', 'février', 'mars', 'avril', 'mai', 'juin', 'juillet', 'août', 'septembre', 'octobre', 'novembre',
        'décembre'],
      days: ['dimanche', 'lundi', 'mardi', 'mercredi', 'jeudi', 'vendredi', 'samedi'],
      short: ['janv.', 'févr.', 'mars', 'avr.', 'mai', 'juin', 'juil.', 'août', 'sept.', 'oct.', 'nov.', 'déc.'],
      cut: 3,
      dot: '.',
    },
    es: {
      months: ['enero', 'febrero', 'marzo', 'abril', 'mayo', 'junio', 'julio', 'agosto', 'septiembre', 'octubre',
        'noviembre', 'diciembre'],
      days: ['domingo', 'lunes', 'martes', 'miércoles', 'jueves', 'viernes', 'sábado'],
      short: ['ene', 'feb', 'mar', 'abr', 'may', 'jun', 'jul', 'ago', 'sept', 'oct', 'nov', 'dic'],
      cut: 3,
    },
    it: {
      months: ['gennaio', 'febbraio', 'marzo', 'aprile', 'maggio', 'giugno', 'luglio', 'agosto', 'settembre', 'ottobre',
        'novembre', 'dicembre'],
      days: ['domenica', 'lunedì', 'martedì', 'mercoledì', 'giovedì', 'venerdì', 'sabato'],
      cut: 3,
    },
    nl: {
      months: ['januari', 'februari', 'maart', 'april', 'mei', 'juni', 'juli', 'augustus', 'september', 'oktober',
        'november', 'december'],
      days: ['zondag', 'maandag', 'dinsdag', 'woensdag', 'donderdag', 'vrijdag', 'zaterdag'],
      short: ['jan', 'feb', 'mrt', 'apr', 'mei', 'jun', 'jul', 'aug', 'sep', 'okt', 'nov', 'dec'],
      cut: 2,
    },
  };
  const forms = {
    'en-US': ['Mdy', '/', 'M/d/yyyy', 'MMMM d, yyyy', 'dddd, MMMM d, yyyy'],
    'en-CA': ['yMd', '-', 'yyyy-MM-dd', 'MMMM d, yyyy', 'dddd, MMMM d, yyyy'],
    en: ['dMy', '/', 'dd/MM/yyyy', 'd MMMM yyyy', 'dddd, d MMMM yyyy'],
    de: ['dMy', '.', 'dd.MM.yyyy', 'd. MMMM yyyy', 'dddd, d. MMMM yyyy'],
    fr: ['dMy', '/', 'dd/MM/yyyy', 'd MMMM yyyy', 'dddd d MMMM yyyy'],
    es: ['dMy', '/', 'd/M/yyyy', 'd de MMMM de yyyy', 'dddd, d de MMMM de yyyy'],
    it: ['dMy', '/', 'dd/MM/yyyy', 'd MMMM yyyy', 'dddd d MMMM yyyy'],
    nl: ['dMy', '-', 'dd-MM-yyyy', 'd MMMM yyyy', 'dddd d MMMM yyyy'],
    pt: ['dMy', '/', 'dd/MM/yyyy', 'd MMMM yyyy', 'dddd, d MMMM yyyy'],
    pl: ['dMy', '.', 'dd.MM.yyyy', 'd MMMM yyyy', 'dddd, d MMMM yyyy'],
    ru: ['dMy', '.', 'dd.MM.yyyy', 'd MMMM yyyy', 'dddd, d MMMM yyyy'],
    sv: ['yMd', '-', 'yyyy-MM-dd', 'd MMMM yyyy', 'dddd d MMMM yyyy'],
    ja: ['yMd', '/', 'yyyy/MM/dd', 'yyyy/MM/dd', 'yyyy/MM/dd'],
    zh: ['yMd', '/', 'yyyy/M/d', 'yyyy/M/d', 'yyyy/M/d'],
  };
  const twelve = ['en-US', 'en-CA', 'en-AU', 'en-NZ', 'en-IN', 'en'];

  class Locale {
    constructor(locales) {
      this.tag = tag(locales);
      this.language = this.tag.split('-')[0].toLowerCase();
      const known = this.tag === 'en' ? 'en-US' : this.tag;
      [this.order, this.mark, this.short, this.long, this.full] = forms[known] ?? forms[this.language] ?? forms['en-US'];
      this.names = names[this.language] ?? english;
      this.hours = twelve.includes(this.tag) ? 12 : 24;
    }
    month(at) { return this.names.months[at]; }
    shortMonth(at) { return this.names.short?.[at] ?? this.names.months[at].slice(0, 3); }
    day(at) { return this.names.days[at]; }
    shortDay(at) { return this.names.days[at].slice(0, this.names.cut) + (this.names.dot ?? ''); }
    // Writes a pattern of .NET.
    write(pattern, at) {
      const [year, month, day] = [at.getUTCFullYear(), at.getUTCMonth(), at.getUTCDate()];
      const parts = {
        yyyy: () => pad(year, 4), yy: () => pad(year % 100), MMMM: () => this.month(month), MM: () => pad(month + 1),
        M: () => month + 1, dddd: () => this.day(at.getUTCDay()), dd: () => pad(day), d: () => day,
      };
      return pattern.replace(/\b(?:yyyy|yy|MMMM|MM|M|dddd|dd|d)\b/g, (part) => String(parts[part]()));
    }
  }

  const dateParts = ['weekday', 'year', 'month', 'day'];
  const timeParts = ['hour', 'minute', 'second', 'dayPeriod', 'fractionalSecondDigits'];
  const styles = ['dateStyle', 'timeStyle'];
  const withDefaults = (options, needed, added) => {
    const given = options ?? {};
    if ([...styles, ...needed].some((name) => given[name] !== undefined)) return given;
    return { ...given, ...Object.fromEntries(added.map((name) => [name, 'numeric'])) };
  };

  class DateTimeFormat {
    #locale; #options; #zone;
    constructor(locales, options) {
      this.#locale = new Locale(locales);
      this.#options = withDefaults(options, [...dateParts, ...timeParts], ['year', 'month', 'day']);
      this.#zone = this.#options.timeZone;
      if (this.#zone !== undefined) host.offset(String(this.#zone), 0);
    }
    format(date) {
      const instant = date === undefined ? host.now() : Number(new Date(date));
      if (!Number.isFinite(instant)) throw new RangeError('Invalid time value');
      const offset = this.#zone === undefined ? 0 : host.offset(String(this.#zone), instant);
      const at = new Date(instant + offset);
      const { dateStyle, timeStyle } = this.#options;
      const texts = [];
      if (dateStyle !== undefined) texts.push(this.#dateStyled(dateStyle, at));
      if (timeStyle !== undefined) texts.push(this.#timeStyled(timeStyle, at));
      return texts.length ? texts.join(', ') : this.#parts(at);
    }
    formatToParts(date) { return [{ type: 'literal', value: this.format(date) }]; }
    resolvedOptions() {
      return { locale: this.#locale.tag, calendar: 'gregory', numberingSystem: 'latn', ...this.#options, timeZone: this.#zone ?? 'UTC' };
    }
    #dateStyled(style, at) {
      const locale = this.#locale;
      const isEnglish = locale.language === 'en';
      if (style === 'full') return locale.write(locale.full, at);
      if (style === 'short') return locale.write(isEnglish ? 'M/d/yy' : locale.short, at);
      return locale.write(isEnglish ? 'MMMM d, yyyy' : locale.long, at);
    }
    #timeStyled(style, at) {
      const [hour, half] = this.#hour(at);
      const seconds = style === 'short' ? '' : `:${pad(at.getUTCSeconds())}`;
      const zones = { full: ' Coordinated Universal Time', long: ' UTC' };
      const zone = this.#zone === undefined || this.#zone === 'UTC' ? zones[style] ?? '' : '';
      return `${hour}:${pad(at.getUTCMinutes())}${seconds}${half}${zone}`;
    }
    // The hour, and the half of the day it is in.
    #hour(at) {
      const { hour12, hourCycle, hour: form } = this.#options;
      const cycles = { h11: 11, h12: 12, h23: 23, h24: 24 };
      const usual = this.#locale.hours === 12 ? 12 : 23;
      const cycle = hour12 === undefined ? cycles[hourCycle] ?? usual : hour12 ? 12 : 23;
      const hour = at.getUTCHours();
      const half = cycle < 20 ? ` ${hour < 12 ? 'AM' : 'PM'}` : '';
      const shown = { 11: hour % 12, 12: (hour + 11) % 12 + 1, 23: hour, 24: hour || 24 }[cycle];
      return [cycle > 20 || form === '2-digit' ? pad(shown) : String(shown), half];
    }
    #parts(at) {
      const { weekday, year, month, day, hour, minute, second, fractionalSecondDigits } = this.#options;
      const locale = this.#locale;
      const isNamed = ['long', 'short', 'narrow'].includes(month);
      const write = {
        M: () => (isNamed ? (month === 'long' ? locale.month : locale.shortMonth).call(locale, at.getUTCMonth())
          : month === 'numeric' ? at.getUTCMonth() + 1 : pad(at.getUTCMonth() + 1)),
        d: () => (day === 'numeric' ? at.getUTCDate() : pad(at.getUTCDate())),
        y: () => (year === '2-digit' ? pad(at.getUTCFullYear() % 100) : pad(at.getUTCFullYear(), 4)),
      };
      const given = { M: month, d: day, y: year };
      let text = '';
      const join = (part, mark) => { text += text ? mark + part : part; };
      if (weekday !== undefined) join((weekday === 'long' ? locale.day : locale.shortDay).call(locale, at.getUTCDay()), '');
      for (const part of locale.order) {
        if (given[part] === undefined) continue;
        join(write[part](), isNamed ? (part === 'y' ? ', ' : ' ') : locale.mark);
      }
      let clock = '';
      const tick = (part, mark) => { clock += clock ? mark + part : part; };
      const [shown, half] = this.#hour(at);
      if (hour !== undefined) tick(shown, '');
      if (minute !== undefined) tick(pad(at.getUTCMinutes()), ':');
      if (second !== undefined) tick(pad(at.getUTCSeconds()), ':');
      if (fractionalSecondDigits) tick(pad(at.getUTCMilliseconds(), 3).slice(0, fractionalSecondDigits), '.');
      if (hour !== undefined) clock += half;
      if (clock) join(clock, ', ');
      if (this.#options.timeZoneName !== undefined && (this.#zone ?? 'UTC') === 'UTC') join('UTC', ' ');
      return text;
    }
  }
  define(Intl, 'DateTimeFormat', DateTimeFormat);

  const day = ['year', 'month', 'day'];
  const clock = ['hour', 'minute', 'second'];
  const texts = {
    toLocaleString: [[...dateParts, ...timeParts], [...day, ...clock]],
    toLocaleDateString: [dateParts, day],
    toLocaleTimeString: [timeParts, clock],
  };
  for (const name of Object.keys(texts)) {
    const [needed, added] = texts[name];
    define(Date.prototype, name, { [name](locales, options) {
      if (Number.isNaN(Number(this))) return 'Invalid Date';
      return new DateTimeFormat(locales, withDefaults(options, needed, added)).format(this);
    } }[name]);
  }
}
