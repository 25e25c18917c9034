import { parentPort, workerData } from 'node:worker_threads';
import type { Delivery } from './commands.ts';
import { ControlWindow } from './control-window.ts';
import { NatsListener } from './listener.ts';
import type { FromWorker, OutgoingMessage, ToWorker, WorkerOptions } from './messages.ts';
import { steadyNow } from './steady-clock.ts';

/** Milliseconds between looks at refused clients, and between two words about them. */
const REFUSED_LOOK_MS = 500;
const REFUSED_PAUSE_MS = 30_000;

/** The broker's own thread: a scan or a slow request on the main thread never delays signalling. */

if (parentPort !== null) await serve(parentPort, workerData as WorkerOptions);

async function serve(port: NonNullable<typeof parentPort>, options: WorkerOptions): Promise<void> {
  const say = (message: FromWorker) => port.postMessage(message);
  const window = new ControlWindow();

  const deliver = (deliveries: readonly Delivery[]) => {
    const admitted = deliveries.filter((delivery) => window.admit(delivery));
    listener.broker.metrics.control_dropped_total += deliveries.length - admitted.length;
    if (admitted.length > 0) say({ kind: 'deliver', deliveries: admitted });
  };
  const listener = new NatsListener(options, deliver);

  for (const { subject, queue, sid } of options.subscriptions) listener.handleControl(line('SUB', subject, queue, sid));
  for (const credential of options.credentials) listener.broker.credentials.set(credential);
  reportRefusals(() => listener.broker.metrics.auth_failures_total, say);

  const end = async (ending: Promise<void>) => {
    await ending;
    say({ kind: 'stopped' });
    port.close();
  };

  port.on('message', (message: ToWorker) => {
    switch (message.kind) {
      case 'subscribe':
        listener.handleControl(line('SUB', message.subject, message.queue, message.sid));
        break;
      case 'unsubscribe':
        listener.handleControl(line('UNSUB', message.sid));
        break;
      case 'publish':
        for (const outgoing of message.messages) listener.handleControl(publication(outgoing));
        break;
      case 'credentials':
        for (const id of message.remove) listener.broker.revoke(id, steadyNow());
        for (const credential of message.set) listener.broker.credentials.set(credential);
        listener.flush();
        break;
      case 'identify':
        listener.broker.identifyConnection(message.connection, message.node, steadyNow());
        listener.flush();
        break;
      case 'acknowledge':
        window.acknowledge(message.messages, message.bytes);
        break;
      case 'flush':
        listener.flush();
        say({ kind: 'flushed', id: message.id });
        break;
      case 'metrics':
        say({ kind: 'metrics', id: message.id, metrics: listener.broker.snapshot() });
        break;
      case 'lame-duck':
        void end(listener.lameDuck(message.durationMs));
        break;
      case 'stop':
        void end(listener.stop());
        break;
      default:
        message satisfies never;
    }
  });

  try {
    say({ kind: 'listening', ...(await listener.start()) });
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : undefined;
    say({ kind: 'failed', message: error instanceof Error ? error.message : String(error), code });
    await end(listener.stop());
  }
}

/** At once for the first, then now and then: a node that is refused tries again for ever. */
function reportRefusals(total: () => number, say: (message: FromWorker) => void): void {
  let said = 0;
  let saidAt = Number.NEGATIVE_INFINITY;
  setInterval(() => {
    const count = total() - said;
    if (count === 0 || performance.now() - saidAt < REFUSED_PAUSE_MS) return;
    said += count;
    saidAt = performance.now();
    say({ kind: 'refused', count });
  }, REFUSED_LOOK_MS).unref();
}

function line(...words: readonly (string | undefined)[]): Uint8Array {
  return Buffer.from(`${words.filter((word) => word !== undefined).join(' ')}\r\n`);
}

function publication({ subject, reply, payload }: OutgoingMessage): Uint8Array {
  const head = `PUB ${subject} ${reply === undefined ? '' : `${reply} `}${payload.length}\r\n`;
  const bytes = Buffer.allocUnsafe(Buffer.byteLength(head) + payload.length + 2);
  const start = bytes.write(head);
  bytes.set(payload, start);
  bytes.write('\r\n', start + payload.length);
  return bytes;
}
