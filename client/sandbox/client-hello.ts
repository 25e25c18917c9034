/** Verdict on the first bytes of a TLS connection: the name of the server, more bytes needed, or refused. */
export type ClientHello =
  | { readonly kind: 'name'; readonly name: string }
  | { readonly kind: 'more' }
  | { readonly kind: 'refused'; readonly reason: string };

/** Longest beginning that is read: a ClientHello with several post-quantum keys has 4 kB. */
export const MAX_HELLO_BYTES = 16_384;

const HANDSHAKE = 22;
const CLIENT_HELLO = 1;
const SERVER_NAME = 0;
const HOST_NAME = 0;
const RECORD_HEADER = 5;
const MAJOR_VERSION = 3;

const NOT_TLS = 'this is not TLS';
const MALFORMED = 'the TLS ClientHello is malformed';

/**
 * Reads the server name of a ClientHello (RFC 8446, 4.1.2; RFC 6066, 3), which may lie in several records. With Encrypted Client Hello
 * that is the outer name. Never throws.
 */
export function readClientHello(bytes: Uint8Array): ClientHello {
  const parts: Uint8Array[] = [];
  let at = 0;
  while (at + RECORD_HEADER <= bytes.length && bytes[at] === HANDSHAKE) {
    const length = ((bytes[at + 3] ?? 0) << 8) | (bytes[at + 4] ?? 0);
    if (bytes[at + 1] !== MAJOR_VERSION) return refused(NOT_TLS);
    // An empty record takes the reader nowhere.
    if (length === 0) return refused(MALFORMED);
    parts.push(bytes.subarray(at + RECORD_HEADER, at + RECORD_HEADER + length));
    at += RECORD_HEADER + length;
  }
  const isOther = at < bytes.length && bytes[at] !== HANDSHAKE;
  if (isOther && at === 0) return refused(NOT_TLS);
  const content = new Reader(Buffer.concat(parts));
  const type = content.number(1);
  const body = content.take(content.number(3));
  if (!content.hasFailed) return type === CLIENT_HELLO ? serverNameIn(new Reader(body)) : refused(NOT_TLS);
  return isOther || bytes.length >= MAX_HELLO_BYTES ? refused(MALFORMED) : { kind: 'more' };
}

const refused = (reason: string): ClientHello => ({ kind: 'refused', reason });

function serverNameIn(hello: Reader): ClientHello {
  // Version and random; session, cipher suites, compression methods.
  hello.take(34);
  hello.take(hello.number(1));
  hello.take(hello.number(2));
  hello.take(hello.number(1));
  const extensions = new Reader(hello.take(hello.number(2)));
  if (hello.hasFailed || hello.left > 0) return refused(MALFORMED);
  const names: string[] = [];
  while (extensions.left > 0) {
    const type = extensions.number(2);
    const content = extensions.take(extensions.number(2));
    if (extensions.hasFailed) return refused(MALFORMED);
    if (type !== SERVER_NAME) continue;
    const list = new Reader(content);
    const entries = new Reader(list.take(list.number(2)));
    const isHostName = entries.number(1) === HOST_NAME;
    const name = Buffer.from(entries.take(entries.number(2))).toString('latin1');
    if (list.hasFailed || entries.hasFailed || list.left > 0 || entries.left > 0 || !isHostName)
      return refused(MALFORMED);
    names.push(name);
  }
  const [name] = names;
  // Servers differ in which of two they take.
  if (names.length > 1) return refused(MALFORMED);
  return name === undefined || name === ''
    ? refused('the TLS ClientHello names no server (SNI)')
    : { kind: 'name', name };
}

/** Reads numbers and parts from bytes; past the end it gives zeros and says that it failed. */
class Reader {
  readonly #bytes: Uint8Array;
  #at = 0;
  hasFailed = false;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  get left(): number {
    return this.#bytes.length - this.#at;
  }

  /** Reads a number of so many bytes, the highest first. */
  number(size: number): number {
    return this.take(size).reduce((value, byte) => value * 256 + byte, 0);
  }

  take(size: number): Uint8Array {
    if (size > this.left) {
      this.hasFailed = true;
      this.#at = this.#bytes.length;
      return new Uint8Array();
    }
    this.#at += size;
    return this.#bytes.subarray(this.#at - size, this.#at);
  }
}
