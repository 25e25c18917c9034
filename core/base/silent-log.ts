import type { Log } from './ports.ts';

/** For what runs where nobody reads a log. */
export const silentLog: Log = { error() {}, warn() {}, info() {}, debug() {} };
