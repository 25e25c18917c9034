/** A PUB or HPUB within `buffer`, valid during the call only. Offsets are used so that nothing is copied. */
export interface Publication {
  buffer: Uint8Array;
  subjectStart: number;
  subjectEnd: number;
  /** FNV-1a of the subject. */
  hash: number;
  /** Equal to `replyEnd` when there is none. */
  replyStart: number;
  replyEnd: number;
  /** The header size as written; equal to `headerEnd` for PUB. */
  headerStart: number;
  headerEnd: number;
  /** The total size as written. */
  sizeStart: number;
  sizeEnd: number;
  /** Bytes of headers, 0 for PUB. */
  headerSize: number;
  payloadStart: number;
  payloadEnd: number;
}

export interface Sink {
  /** False stops the parser: what follows is not looked at. */
  readonly open: boolean;
  /** True while only CONNECT may come. */
  readonly awaitingAuth: boolean;
  connect(json: string): void;
  info(json: string): void;
  ping(): void;
  pong(): void;
  subscribe(args: readonly string[]): void;
  unsubscribe(args: readonly string[]): void;
  publish(publication: Publication): void;
  /** The peer sent -ERR. */
  peerError(): void;
  /** Another operation than CONNECT came first. */
  unauthorized(): void;
}

/** Why a connection cannot go on. Only `arguments` closes without a word, as nats-server does. */
export type ParseError = 'operation' | 'arguments' | 'control-line' | 'payload' | 'partial';
