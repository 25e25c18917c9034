import type { RelaySession } from './session.ts';

const NO_BYTES = new Uint8Array(0);

/** The run of frames to one receiver that lie behind each other in one chunk: passed on as one piece. */
export class Span {
  to: RelaySession | undefined;
  bytes: Uint8Array = NO_BYTES;
  start = 0;
  end = 0;

  begin(to: RelaySession, bytes: Uint8Array, start: number, end: number): void {
    this.to = to;
    this.bytes = bytes;
    this.start = start;
    this.end = end;
  }

  /** Gives the run to its receiver. @returns the receiver */
  flush(): RelaySession | undefined {
    const { to } = this;
    if (to === undefined) return undefined;
    to.outbox.pass(this.bytes, this.start, this.end);
    this.to = undefined;
    this.bytes = NO_BYTES;
    return to;
  }
}
