import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createParser, type EventSourceMessage } from 'eventsource-parser';
import { expect, test } from 'vitest';
import { formatInstant } from '../../core/base/time.ts';
import { DEBUG_PATH, withOutage } from '../kits/http/debug-kit.ts';
import { ADMIN_PASSWORD, startHarness } from '../kits/http/harness.ts';
import { webAndDatabase } from '../kits/http/network-setup.ts';
import { mesh } from '../kits/process/run-command.ts';

type Outage = Awaited<ReturnType<typeof withOutage>>;

/** The text of the stream, up to the event of a line that begins so; then the connection is ended, as by a cut of the network. */
async function streamed(
  { faces, body }: Outage,
  headers: Record<string, string> = {},
  until?: string,
): Promise<string> {
  const response = await fetch(`${faces.url}${DEBUG_PATH}`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', Authorization: 'Bearer admin', ...headers },
    body: JSON.stringify(body),
  });
  let text = '';
  for await (const chunk of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
    text += chunk;
    if (until !== undefined && text.includes(`\n${until}`)) break;
  }
  // What came in the same moment as the cut did not arrive.
  return until === undefined ? text : text.slice(0, text.indexOf('\n\n', text.indexOf(`\n${until}`)) + 2);
}

/** Whole events: the last one of a stream that was cut may be a part. */
function eventsOf(text: string): EventSourceMessage[] {
  const events: EventSourceMessage[] = [];
  createParser({ onEvent: (event) => events.push(event) }).feed(text);
  return events;
}

test('the stream comes line by line, a parser of event streams reads it, and after a cut it goes on where it was', async () => {
  await using outage = await withOutage();
  const get = (...more: [headers?: Record<string, string>, until?: string]) => streamed(outage, ...more);
  const whole = await get();
  expect(whole).toMatch(
    /^retry: *3000\n\nid: [\w-]{16}\.1\.[\w-]{8}\nevent: step\ndata: \{.*\}\n\nid: [\w-]{16}\.2\.[\w-]{8}\nevent: tool\n/,
  );
  const events = eventsOf(whole);
  expect(new Set(events.map(({ event }) => event))).toEqual(new Set(['step', 'tool', 'finding', 'token', 'done']));
  const finding = JSON.parse(events.find(({ event }) => event === 'finding')?.data ?? '');
  expect(finding).toMatchObject({
    connections: { count: 1 },
    causes: [{ name: 'isolate-db' }],
    restore: { verified: true },
  });
  const start = eventsOf(await get({}, 'event: step'));
  const last = start.at(-1)?.id;
  const rest = eventsOf(await get({ 'Last-Event-ID': `${last}` }));
  expect(rest[0]?.id).toBe(events[start.length]?.id?.replace(/^[\w-]+/, last?.split('.')[0] ?? ''));
  const places = [...start, ...rest].map(({ id }) => Number(id?.split('.')[1]));
  expect(places).toEqual(events.map((_, index) => index + 1));
  expect(rest.at(-1)?.event).toBe('done');
  const [replayed] = eventsOf(await get({ 'Last-Event-ID': `${last?.split('.')[0]}.0`, Accept: 'text/event-stream' }));
  expect(replayed).toEqual(start[0]);
  outage.kit.clock.time += 5 * 60_000 + 1_000;
  const late = JSON.parse(await get({ 'Last-Event-ID': `${last}` }));
  expect(late).toMatchObject({ status: 410, code: 'expired', detail: expect.stringContaining('ask again') });
});

test('mesh history tells a connection over a range as a table, and as JSON with -o json', async () => {
  await using harness = await startHarness();
  const home = mkdtempSync(path.join(tmpdir(), 'mesh-home-'));
  const { token, workspace } = await webAndDatabase(harness, 'outage');
  const joined = formatInstant(Date.now());
  const spec = { action: 'DENY', peerSelector: { matchLabels: { role: 'db' } } };
  await harness.api('POST', '/api/v1/policies', { token, workspace, body: { name: 'isolate-db', spec } });
  // A later instant than that of the commit, by any clock.
  await expect.poll(() => Date.now() > Date.parse(joined) + 50).toBe(true);
  await mesh(['login', '--server', harness.url, '--workspace', 'outage'], {
    home,
    env: { MESH_PASSWORD: ADMIN_PASSWORD },
  });
  const asked = ['history', 'web-1', 'db-1', '--from', joined, '--port', '5432'];
  const { code, stdout, stderr } = await mesh(asked, { home });
  expect([code, stderr]).toEqual([0, '']);
  const lines = stdout.trimEnd().split('\n');
  expect(Math.max(...lines.map(({ length }) => length))).toBeLessThanOrEqual(80);
  expect(lines[0]).toMatch(/^From +To +Connection/);
  expect(stdout).toMatch(/^(?:now|\d+ \w+ ago) +(?:now|\d+ \w+ ago) +reachable, not both /m);
  const words = stdout.replaceAll(/\s+/g, ' ');
  expect(words).toMatch(
    /(?:ago|now) unreachable .*policy MeshPolicy\/isolate-db created in revision \d+ by user:admin/,
  );
  const json = JSON.parse((await mesh([...asked, '-o', 'json'], { home })).stdout);
  expect(json).toMatchObject({
    src: 'web-1',
    dst: 'db-1',
    intervals: [{ verdict: 'reachable' }, { verdict: 'unreachable', change: { actor: 'user:admin' } }],
  });
  expect(json.intervals[0].to).toBe(json.intervals[1].from);
  const reversed = await mesh([...asked, '--to', '2020-01-01T00:00:00Z'], { home });
  expect([reversed.code, reversed.stderr]).toEqual([2, expect.stringMatching(/ends before it begins/)]);
  for (const range of [[], ['--from', '1h'], ['--from', '2d', '--to', '1ms']]) {
    const lately = await mesh(['history', 'web-1', 'db-1', ...range], { home });
    expect([lately.code, lately.stdout]).toEqual([0, expect.stringContaining('MeshPolicy/isolate-db')]);
  }
  const whenever = await mesh(['history', 'web-1', 'db-1', '--from', 'lately'], { home });
  expect([whenever.code, whenever.stderr]).toEqual([2, expect.stringMatching(/--from takes an instant .*1h, 2d/)]);
  const unknown = await mesh(['history', 'web-1', 'db-11', '--from', joined], { home });
  expect(unknown.stderr).toContain('"db-1"');
  rmSync(home, { recursive: true, force: true });
});
