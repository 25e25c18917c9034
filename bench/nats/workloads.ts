import { Wire } from './wire.ts';

/** One measured run: how many messages reached a receiver, in how many seconds. */
export interface Run {
  readonly messages: number;
  readonly seconds: number;
  /** Milliseconds, where latency was asked for. */
  readonly p99?: number;
}

/** `scale` 1 is about half a second on two cores. */
export type Workload = (port: number, scale: number) => Promise<Run>;

/** Bytes a batching publisher writes at once. */
const BATCH_BYTES = 65_536;

const payload = (bytes: number) => Buffer.alloc(bytes, 'x');
const pub = (subject: string, bytes: number, reply = '') =>
  Buffer.concat([Buffer.from(`PUB ${subject} ${reply}${bytes}\r\n`), payload(bytes), Buffer.from('\r\n')]);
const msgLength = (subject: string, sid: string, bytes: number) =>
  `MSG ${subject} ${sid} ${bytes}\r\n`.length + bytes + 2;

async function timed(messages: number, work: () => Promise<unknown>): Promise<Run> {
  const start = performance.now();
  await work();
  return { messages, seconds: (performance.now() - start) / 1_000 };
}

/** One publisher that batches, one subscriber. */
export const oneToOne =
  (bytes: number): Workload =>
  async (port, scale) => {
    const count = Math.round(((bytes > 512 ? 200_000 : 400_000) * scale) / 100) * 100;
    const subscriber = await Wire.open(port, 'SUB load.ws.peer.signal 1\r\n');
    const publisher = await Wire.open(port);
    const one = pub('load.ws.peer.signal', bytes);
    const perBatch = Math.max(1, Math.floor(BATCH_BYTES / one.length));
    const run = await timed(count, async () => {
      const done = subscriber.expect(count * msgLength('load.ws.peer.signal', '1', bytes));
      const batch = Buffer.concat(Array.from({ length: perBatch }, () => one));
      for (let left = count; left > 0; left -= perBatch) {
        await publisher.write(left >= perBatch ? batch : batch.subarray(0, left * one.length));
      }
      await done;
    });
    subscriber.close();
    publisher.close();
    return run;
  };

/** One publisher, 1,000 subscribers of one subject, who all call it by the same sid or each by its own. */
export const fanOut =
  (bytes: number, sids: 'same' | 'own'): Workload =>
  async (port, scale) => {
    const receivers = 1_000;
    const count = Math.round((bytes > 1_024 ? 200 : 1_000) * scale);
    const sid = (at: number) => `${1_000 + (sids === 'own' ? at : 0)}`;
    const wires = await openMany(port, receivers, (at) => `SUB load.ws.all.news ${sid(at)}\r\n`);
    const publisher = await Wire.open(port);
    const run = await timed(count * receivers, async () => {
      const done = wires.map((wire) => wire.expect(count * msgLength('load.ws.all.news', sid(0), bytes)));
      const one = pub('load.ws.all.news', bytes);
      for (let sent = 0; sent < count; sent++) await publisher.write(one);
      await Promise.all(done);
    });
    for (const wire of [...wires, publisher]) wire.close();
    return run;
  };

/** Graph pushes: one publisher, 4 KB to each of 1,000 peers on its own subject. */
export const graphPushes: Workload = async (port, scale) => {
  const peers = 1_000;
  const bytes = 4_096;
  const subject = (at: number) => `plane.ws.peer${String(at).padStart(4, '0')}.graph`;
  const rounds = Math.max(1, Math.round(60 * scale));
  const wires = await openMany(port, peers, (at) => `SUB ${subject(at)} 1\r\n`);
  const publisher = await Wire.open(port);
  const run = await timed(rounds * peers, async () => {
    const done = wires.map((wire) => wire.expect(rounds * msgLength(subject(0), '1', bytes)));
    const pushes = wires.map((_wire, at) => pub(subject(at), bytes));
    for (let round = 0; round < rounds; round++) for (const push of pushes) await publisher.write(push);
    await Promise.all(done);
  });
  for (const wire of [...wires, publisher]) wire.close();
  return run;
};

/** 64 publishers with a subscriber each, one PUB a write, one write a turn. */
export const pairs: Workload = async (port, scale) => {
  const bytes = 256;
  const count = Math.round(2_000 * scale);
  const subject = (at: number) => `load.ws.peer${String(at).padStart(2, '0')}.signal`;
  const subscribers = await openMany(port, 64, (at) => `SUB ${subject(at)} 1\r\n`);
  const publishers = await openMany(port, 64, () => '');
  const run = await timed(count * 64, async () => {
    const done = subscribers.map((wire) => wire.expect(count * msgLength(subject(0), '1', bytes)));
    const sending = publishers.map(async (wire, at) => {
      const one = pub(subject(at), bytes);
      for (let sent = 0; sent < count; sent++) {
        await wire.write(one);
        await new Promise(setImmediate);
      }
    });
    await Promise.all([...sending, ...done]);
  });
  for (const wire of [...subscribers, ...publishers]) wire.close();
  return run;
};

const INBOX = '_INBOX.abcdefghijklmnopqrstuv.1';

/** A requester and a responder; `outstanding` requests are always on the way. */
export const requestReply =
  (outstanding: number): Workload =>
  async (port, scale) => {
    const count = Math.round((outstanding > 1 ? 60_000 : 8_000) * scale);
    const { requester, close } = await askers(port);
    const request = pub('ask.ws.control', 128, `${INBOX} `);
    const answerLength = msgLength(INBOX, '1', 128);
    const run = await timed(count, async () => {
      let sent = Math.min(outstanding, count);
      const done = requester.expect(count * answerLength);
      let answered = 0;
      requester.onBytes = () => {
        const now = Math.floor(requester.received / answerLength);
        const more = Math.min(now - answered, count - sent);
        answered = now;
        for (let at = 0; at < more; at++) requester.socket.write(request);
        sent += more;
      };
      for (let at = 0; at < sent; at++) requester.socket.write(request);
      await done;
    });
    close();
    return run;
  };

/** Latency of requests sent evenly at the given rate; `seconds` of it. */
export async function latencyAt(port: number, perSecond: number, seconds: number): Promise<Run> {
  const { requester, close } = await askers(port);
  const request = pub('ask.ws.control', 128, `${INBOX} `);
  const answerLength = msgLength(INBOX, '1', 128);
  const count = Math.round(perSecond * seconds);
  const sentAt = new Float64Array(count);
  const took = new Float64Array(count);
  const run = await timed(count, async () => {
    const done = requester.expect(count * answerLength);
    let answered = 0;
    requester.onBytes = () => {
      const now = Math.floor(requester.received / answerLength);
      const at = performance.now();
      while (answered < now) took[answered] = at - (sentAt[answered++] as number);
    };
    const start = performance.now();
    let sent = 0;
    while (sent < count) {
      const due = Math.min(count, Math.floor(((performance.now() - start) * perSecond) / 1_000));
      while (sent < due) {
        sentAt[sent++] = performance.now();
        requester.socket.write(request);
      }
      await new Promise((resolve) => setTimeout(resolve, 1));
    }
    await done;
  });
  close();
  const sorted = took.sort();
  return { ...run, p99: sorted[Math.floor(count * 0.99)] ?? 0 };
}

async function askers(port: number) {
  const responder = await Wire.open(port, 'SUB ask.ws.control 1\r\n');
  const requester = await Wire.open(port, `SUB ${INBOX} 1\r\n`);
  const questionLength = `MSG ask.ws.control 1 ${INBOX} 128\r\n`.length + 128 + 2;
  const answer = pub(INBOX, 128);
  let answered = 0;
  responder.onBytes = () => {
    const now = Math.floor(responder.received / questionLength);
    const due = now - answered;
    answered = now;
    if (due === 1) responder.socket.write(answer);
    else if (due > 1) responder.socket.write(Buffer.concat(Array.from({ length: due }, () => answer)));
  };
  return {
    requester,
    close: () => {
      responder.close();
      requester.close();
    },
  };
}

/** Connections that do nothing but hold one subscription. */
export function openMany(port: number, count: number, first: (at: number) => string): Promise<Wire[]> {
  const opening: Promise<Wire>[] = [];
  for (let at = 0; at < count; at++) opening.push(Wire.open(port, first(at)));
  return Promise.all(opening);
}
