import { type Readable, Transform, type Writable } from 'node:stream';
import { MeshError } from '../core/base/errors.ts';
import { JSON_LIMITS, requireBounded } from '../core/base/json-text.ts';
import { INVALID_REQUEST, withoutNullParams } from './body.ts';

const NEWLINE = 0x0a;
/** As serializers write it. */
const NULL_PARAMS = ['"params":null', '"params": null'];

/**
 * The messages of a client on standard input, one a line. One that exceeds the bounds of a request body is answered with a
 * JSON-RPC error and left out, before anything is made of it.
 */
export function boundedLines(input: Readable, output: Writable): Readable {
  let pieces: Buffer[] = [];
  let size = 0;

  function refuse(message: string): void {
    const error = { code: INVALID_REQUEST, message };
    output.write(`${JSON.stringify({ jsonrpc: '2.0', id: null, error })}\n`);
  }

  function endLine(last: Buffer): Buffer | undefined {
    const line = Buffer.concat([...pieces, last]);
    const isTooLong = size + last.length > JSON_LIMITS.bytes;
    [pieces, size] = [[], 0];
    try {
      if (isTooLong)
        throw new MeshError('payload_too_large', `Send at most ${JSON_LIMITS.bytes} bytes in one message.`);
      const text = line.toString();
      requireBounded(text);
      return NULL_PARAMS.some((none) => text.includes(none)) ? rewritten(text) : line;
    } catch (error) {
      // The transport says what is not well-formed.
      if (error instanceof SyntaxError) return line;
      if (!(error instanceof MeshError)) throw error;
      refuse(error.message);
      return undefined;
    }
  }

  const lines = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      let from = 0;
      for (let end = chunk.indexOf(NEWLINE); end >= 0; end = chunk.indexOf(NEWLINE, from)) {
        const line = endLine(chunk.subarray(from, end + 1));
        if (line) this.push(line);
        from = end + 1;
      }
      size += chunk.length - from;
      // For a line that is too long already, only its length is stored.
      if (size <= JSON_LIMITS.bytes) pieces.push(chunk.subarray(from));
      else pieces = [];
      done();
    },
  });
  // A transport that closes pauses what it reads, so that the process can end.
  lines.once('pause', () => {
    input.unpipe(lines);
    input.pause();
  });
  input.once('error', (error) => lines.destroy(error));
  return input.pipe(lines);
}

/** @throws SyntaxError */
function rewritten(text: string): Buffer {
  return Buffer.from(`${JSON.stringify(withoutNullParams(JSON.parse(text)))}\n`);
}
