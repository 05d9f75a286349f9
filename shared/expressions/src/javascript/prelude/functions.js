// Elsa's functions that need nothing but their arguments, and its .NET types, which load when they are used.
(host) => {
  'use strict';
  const define = (name, value) =>
    Reflect.defineProperty(globalThis, name, { value, writable: true, configurable: true, enumerable: false });

  // What objects of .NET inherit: their texts are the names of their types. As accessors, these can be overwritten.
  const printed = (toString) => Object.create(Object.prototype, {
    toString: {
      get() { return toString; },
      set(value) {
        Reflect.defineProperty(this, 'toString', { value, writable: true, enumerable: true, configurable: true });
      },
    },
  });
  const named = (text) => printed(() => text);
  const dictionary = (of) => named(`System.Collections.Generic.Dictionary\`2[System.String,System.${of}]`);
  host.expando = named('System.Dynamic.ExpandoObject');
  host.dictionary = dictionary('Object');
  host.texts = dictionary('String');
  host.node = printed(function toString() { return JSON.stringify(this, null, 2); });

  // A script ends long before anything of it is collected, so these hold what they are given.
  class WeakRef {
    #target;
    constructor(target) { this.#target = target; }
    deref() { return this.#target; }
  }
  class FinalizationRegistry {
    constructor(_clean) {}
    register() {}
    unregister() { return false; }
  }
  define('WeakRef', WeakRef);
  define('FinalizationRegistry', FinalizationRegistry);

  // What is loaded later is frozen as all else is, where all else is.
  let loaded;
  const types = () => {
    loaded ??= host.freeze(host.loadTypes()(host));
    return loaded;
  };
  const names = ['TimeSpan', 'DateTime', 'DateTimeOffset', 'Guid', 'Random', 'HttpHeaders', 'LogPersistenceMode'];
  for (const name of names) {
    const get = () => types()[name];
    Reflect.defineProperty(globalThis, name, { get, set: (value) => define(name, value), configurable: true });
  }
  const expiry = (until) => {
    if (until == null) return undefined;
    return until instanceof types().TimeSpan ? host.now() + until.TotalMilliseconds : Number(until);
  };

  const functions = {
    newGuid: () => types().Guid.NewGuid(),
    parseGuid: (text) => types().Guid.Parse(text),
    createEventTriggerUrl: (event, until) => host.createEventTriggerUrl(event, expiry(until)),
    isNullOrWhiteSpace: (value) => value == null || String(value).trim() === '',
    isNullOrEmpty: (value) => value == null || String(value) === '',
    toJson: (value) => host.toJson(value),
    newGuidString: () => host.newGuid(),
    getGuidString: () => host.newGuid(),
    getShortGuid: () => host.newShortGuid(),
    setOutcome: (name) => host.setOutcomes([name]),
    getSecret: async (name) => host.getSecret(name),
  };
  for (const name of Object.keys(functions)) define(name, functions[name]);

  // These are functions of the host as they are.
  const shared = ['getVariable', 'setVariable', 'getInput', 'getOutputFrom', 'getLastResult', 'getConfig',
    'getWorkflowDefinitionId', 'getWorkflowDefinitionVersionId', 'getWorkflowDefinitionVersion',
    'getWorkflowInstanceId', 'getCorrelationId', 'setCorrelationId', 'getWorkflowInstanceName',
    'setWorkflowInstanceName', 'setOutcomes', 'newShortGuid', 'bytesToString', 'bytesFromString',
    'bytesToBase64', 'bytesFromBase64', 'stringToBase64', 'stringFromBase64', 'streamToBytes',
    'streamToBase64'];
  for (const name of shared) define(name, host[name]);
}
