import { reading } from '../../test/kits/http/read-events.ts';

/**
 * Readers of events in a process of their own: `node bench/growth/reading.ts <url> <token> <workspace> <readers>`. Told how many
 * events are to come, it answers once each reader has had them.
 */
const [url = '', token = '', workspace = '', readers = '0'] = process.argv.slice(2);
const headers = { authorization: `Bearer ${token}`, 'x-workspace-id': workspace };
const heard = Array.from({ length: Number(readers) }, () => 0);
let wanted = 0;
let isAsked = false;

process.once('disconnect', () => process.exit());
process.on('message', (events: number) => {
  wanted += events;
  isAsked = true;
  tell();
});
await Promise.all(heard.map((_, reader) => open(reader)));
process.send?.('open');

async function open(reader: number): Promise<void> {
  const response = await fetch(new URL('/api/v1/events', url), { headers });
  if (response.status !== 200) throw new Error(`The events answer ${response.status}: ${await response.text()}`);
  void read(reader, reading(response));
}

async function read(reader: number, events: ReturnType<typeof reading>): Promise<void> {
  for (let event = await events.next(); event; event = await events.next()) {
    if (event.event === 'change') heard[reader] = (heard[reader] ?? 0) + 1;
    tell();
  }
}

function tell(): void {
  if (!isAsked || heard.some((count) => count < wanted)) return;
  isAsked = false;
  process.send?.('heard');
}
