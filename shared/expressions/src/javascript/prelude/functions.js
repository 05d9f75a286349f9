// Elsa's functions that need nothing but their arguments.
(host) => {
  'use strict';
  const define = (name, value) =>
    Reflect.defineProperty(globalThis, name, { value, writable: true, configurable: true, enumerable: false });
  const { stringify } = JSON;

  const functions = {
    isNullOrWhiteSpace: (value) => value == null || String(value).trim() === '',
    isNullOrEmpty: (value) => value == null || String(value) === '',
    toJson: (value) => stringify(value),
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
