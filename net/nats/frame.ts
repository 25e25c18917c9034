import { latin1 } from './bytes.ts';
import type { Publication } from './sink.ts';

const SPACE = 32;
const CRLF = [13, 10] as const;

/**
 * Everything of a MSG or HMSG frame behind `subject sid `: `[reply] [header size] size CRLF payload CRLF`. As a rule
 * the publisher sent these very bytes in a row; then they are shown, not copied.
 */
export function frameTail(publication: Publication): Uint8Array {
  const { buffer, replyStart, replyEnd, headerStart, headerEnd, sizeStart, sizeEnd, payloadStart, payloadEnd } =
    publication;
  // HPUB with a header size of 0 is delivered as PUB, as nats-server does.
  if (headerStart !== headerEnd && publication.headerSize === 0) return rebuilt(publication);
  const replyGap = replyStart === replyEnd || (headerStart === replyEnd + 1 && buffer[replyEnd] === SPACE);
  const headerGap = headerStart === headerEnd || (sizeStart === headerEnd + 1 && buffer[headerEnd] === SPACE);
  if (replyGap && headerGap && payloadStart === sizeEnd + 2) {
    return buffer.subarray(replyStart, payloadEnd + CRLF.length);
  }
  return rebuilt(publication);
}

/** The tail of a plain MSG for a receiver that takes no headers. */
export function withoutHeaders(publication: Publication): Uint8Array {
  const { buffer, replyStart, replyEnd, payloadStart, payloadEnd, headerSize } = publication;
  const reply = latin1(buffer, replyStart, replyEnd);
  const body = buffer.subarray(payloadStart + headerSize, payloadEnd);
  return tailOf(reply, `${body.length}`, body);
}

function rebuilt(publication: Publication): Uint8Array {
  const { buffer, replyStart, replyEnd, headerStart, headerEnd, sizeStart, sizeEnd, payloadStart, payloadEnd } =
    publication;
  const headerSize = publication.headerSize === 0 ? '' : latin1(buffer, headerStart, headerEnd);
  const size = latin1(buffer, sizeStart, sizeEnd);
  return tailOf(
    latin1(buffer, replyStart, replyEnd),
    headerSize === '' ? size : `${headerSize} ${size}`,
    buffer.subarray(payloadStart, payloadEnd),
  );
}

function tailOf(reply: string, sizes: string, payload: Uint8Array): Uint8Array {
  const line = Buffer.from(`${reply === '' ? '' : `${reply} `}${sizes}\r\n`, 'latin1');
  const tail = new Uint8Array(line.length + payload.length + CRLF.length);
  tail.set(line);
  tail.set(payload, line.length);
  tail.set(CRLF, tail.length - CRLF.length);
  return tail;
}
