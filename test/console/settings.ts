/** The settings of a console in tests. */
import type { ConsoleSettings } from '../../src/console/console-settings.js';

/** What an operator who says nothing gets, on any free port. */
export const SETTINGS: ConsoleSettings = {
  host: '127.0.0.1',
  port: 0,
  allowActions: false,
  showValues: false,
  login: null,
  allowedHosts: [],
  temporalUi: null,
  temporalNamespace: 'default',
};
