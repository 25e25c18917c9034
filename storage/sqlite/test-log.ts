import type { Log } from '../../core/ports.ts';

export const silentLog: Log = { error() {}, warn() {}, info() {}, debug() {} };
