import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { expect, test } from 'vitest';
import { sendPieces } from './send-pieces.ts';

/** More than a response takes before it says that nobody reads. */
const PIECE = 'x'.repeat(100_000);

test('a client that reads nothing has no more than a few pieces made for it', async () => {
  let made = 0;
  async function* endless() {
    for (;;) {
      made += 1;
      yield PIECE;
    }
  }
  const response = new ServerResponse(new IncomingMessage(new Socket()));
  const sent = sendPieces(response, endless(), 200, []);
  for (let turn = 0; turn < 50; turn += 1) await new Promise(setImmediate);
  expect(made).toBeLessThan(5);
  response.destroy();
  expect(await sent).toBeInstanceOf(Error);
});
