import { MeshError } from './errors.ts';

/** Nobody waits for the answer any more: the connection was closed, or the call cancelled. */
export class CallerDisconnected extends MeshError {
  constructor() {
    super('unavailable', 'The caller has gone.');
  }
}
