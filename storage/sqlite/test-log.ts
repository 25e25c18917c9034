import type { Log } from '../../core/base/ports.ts';

export const silentLog: Log = { error() {}, warn() {}, info() {}, debug() {} };
