import { expect, test } from 'vitest';
import type { Judgement } from './closed-chains.ts';
import { linuxHostRules } from './host-rules.ts';
import type { Opened, OpenedRecord } from './opened.ts';

const closedBy = (manager: Judgement['manager']): Judgement => ({
  manager,
  closed: [{ table: 'inet filter', chain: 'input', rule: null, manager, command: 'a command' }],
  unread: [],
});
const CHAIN = 'nft -j --terse list chain inet filter input';
const MATCH = { match: { op: '==', left: { meta: { key: 'iifname' } }, right: 'mesh0' } };
const rule = (handle: number, comment: string, expr: readonly object[] = [MATCH, { accept: null }]) => ({
  rule: { family: 'inet', table: 'filter', chain: 'input', handle, comment, expr },
});
const listing = (...rules: readonly object[]) =>
  JSON.stringify({
    nftables: [{ chain: { family: 'inet', table: 'filter', name: 'input', hook: 'input' } }, ...rules],
  });

/** Removes deleted rules from a listing. */
function withoutRules(answer: string | Error | undefined, did: readonly string[]) {
  if (typeof answer !== 'string') return answer;
  const isLeft = (handle: unknown) => !did.some((line) => line.endsWith(`handle ${handle}`));
  if (!answer.includes('"nftables"')) {
    const lines = answer.split('\n');
    return lines.filter((line) => isLeft(/# (\d+)$/.exec(line)?.[1])).join('\n');
  }
  const { nftables } = JSON.parse(answer);
  return JSON.stringify({
    nftables: nftables.filter(({ rule: one }: { rule?: { handle: number } }) => isLeft(one?.handle)),
  });
}

/** A host whose programs print what `answers` has of a command, or fail with it as an Error; without one there is no such program. */
function host(answers: Readonly<Record<string, string | Error>>, noted?: Opened) {
  const did: string[] = [];
  const notes: (Opened | undefined)[] = [noted];
  const record: OpenedRecord = {
    read: () => notes.at(-1),
    write: (opened) => notes.push(opened),
    forget: () => notes.push(undefined),
  };
  const rules = linuxHostRules('mesh0', record, async (file, args, { stdin = '' } = {}) => {
    const line = [file, ...args, ...(stdin === '' ? [] : [stdin.trim()])].join(' ');
    const answer = withoutRules(answers[line] ?? answers[file], did);
    did.push(line);
    if (answer === undefined) return { code: null, stdout: '', stderr: `spawn ${file} ENOENT`, isMissing: true };
    return typeof answer === 'string'
      ? { code: 0, stdout: answer, stderr: '' }
      : { code: 1, stdout: answer.message === 'no' ? 'no\n' : '', stderr: `${answer.message}\n` };
  });
  /** Without what only looks. */
  const changes = () =>
    did.splice(0).filter((line) => !/ status$| version$| show added$|--state$|--query-| list /.test(line));
  return { rules, changes, notes, noted: () => notes.at(-1) };
}

const UFW = { ufw: '', 'ufw show added': 'Added user rules:\n(None)\n' };
const ufwHas = (line: string) => ({ ...UFW, 'ufw show added': `Added user rules:\nufw allow 22/tcp\n${line}\n` });

test('ufw is given the rule, which is on disk before, and gives it back', async () => {
  const { rules, changes, noted } = host(UFW);
  await rules.open(closedBy('ufw'));
  const opened: Opened = { interfaceName: 'mesh0', tool: 'ufw', changes: ['rule'] };
  expect([changes(), noted(), rules.opened()]).toEqual([['ufw allow in on mesh0 comment mesh mesh0'], opened, opened]);
  const next = host(ufwHas("ufw allow in on mesh0 comment 'mesh mesh0'"), opened);
  await next.rules.open(closedBy('ufw'));
  expect(next.changes()).toEqual([]);
  await next.rules.close();
  expect([next.changes(), next.noted()]).toEqual([['ufw --force delete allow in on mesh0'], undefined]);
  await next.rules.close();
  expect(next.changes()).toEqual([]);
});

test.each([
  ['without a comment', 'ufw allow in on mesh0'],
  ['with another comment', "ufw allow in on mesh0 comment 'by Ada'"],
])("a rule of the administrator's own stays, neither opened nor closed: one %s", async (_, line) => {
  const { rules, changes, noted } = host(ufwHas(line));
  await rules.open(closedBy('ufw'));
  await rules.close();
  expect([changes(), noted()]).toEqual([[], undefined]);
  const later = host(ufwHas(line), { interfaceName: 'mesh0', tool: 'ufw', changes: ['rule'] });
  await later.rules.close();
  expect([later.changes(), later.noted()]).toEqual([[], undefined]);
});

test('a tool that fails is named with what it said, and nothing counts as opened', async () => {
  const readOnly = new Error("ERROR: [Errno 30] Read-only file system: '/etc/ufw/user.rules'");
  const { rules, noted } = host({ ...UFW, 'ufw allow in on mesh0 comment mesh mesh0': readOnly });
  await expect(rules.open(closedBy('ufw'))).rejects.toThrow(
    "ufw allow in on mesh0 comment mesh mesh0 failed: ERROR: [Errno 30] Read-only file system: '/etc/ufw/user.rules'",
  );
  expect(noted()).toBeUndefined();
  await expect(host({ ufw: new Error('You need to be root') }).rules.open(closedBy('ufw'))).rejects.toThrow(
    'ufw show added failed: You need to be root',
  );
});

test('what cannot be taken away stays noted for the next who tries', async () => {
  const noted: Opened = { interfaceName: 'mesh0', tool: 'ufw', changes: ['rule'] };
  const own = ufwHas("ufw allow in on mesh0 comment 'mesh mesh0'");
  const stuck = host({ ...own, 'ufw --force delete allow in on mesh0': new Error('locked') }, noted);
  await expect(stuck.rules.close()).rejects.toThrow('ufw --force delete allow in on mesh0 failed: locked');
  expect(stuck.noted()).toEqual(noted);
  // A host without ufw has none of its rules.
  const removed = host({}, noted);
  await removed.rules.close();
  expect(removed.noted()).toBeUndefined();
});

const zone = (verb: string, kept = '') => `firewall-cmd ${kept}--zone=trusted --${verb}-interface=mesh0`;

test('firewalld is given the interface now and for later, where it does not have it, and gives that back', async () => {
  const answers = { 'firewall-cmd': '', [zone('query', '--permanent ')]: 'yes', [zone('query')]: new Error('no') };
  const { rules, changes, noted } = host(answers);
  await rules.open(closedBy('firewalld'));
  const opened: Opened = { interfaceName: 'mesh0', tool: 'firewalld', changes: ['now'] };
  expect([changes(), noted()]).toEqual([[zone('add')], opened]);
  const next = host({ 'firewall-cmd': 'yes' }, opened);
  await next.rules.close();
  expect([next.changes(), next.noted()]).toEqual([[zone('remove')], undefined]);
});

test('firewalld that does not run gives back what it would load at its next start', async () => {
  const noted: Opened = { interfaceName: 'mesh0', tool: 'firewalld', changes: ['now', 'permanent'] };
  const { rules, changes } = host({ 'firewall-cmd': new Error('not running'), 'firewall-offline-cmd': '' }, noted);
  await rules.close();
  expect(changes().slice(1)).toEqual(['firewall-offline-cmd --zone=trusted --remove-interface=mesh0']);
});

test('firewalld that refuses is named with what it said', async () => {
  const conflict = new Error("ZONE_CONFLICT: 'mesh0' already bound to a zone");
  const { rules } = host({
    'firewall-cmd': new Error('no'),
    'firewall-cmd --state': 'running',
    [zone('add')]: conflict,
  });
  await expect(rules.open(closedBy('firewalld'))).rejects.toThrow(`${zone('add')} failed: ${conflict.message}`);
});

test('without a tool the rule is put where packets meet the table that drops, once, and goes by its comment', async () => {
  const accept = 'insert rule inet filter input iifname "mesh0" accept comment "mesh mesh0"';
  const { rules, changes, noted } = host({ nft: '', [CHAIN]: listing(rule(11, 'mesh mesh1'), rule(12, '')) });
  await rules.open(closedBy('nft'));
  const opened: Opened = { interfaceName: 'mesh0', tool: 'nft', changes: ['inet filter input'] };
  expect([changes(), noted()]).toEqual([[`nft -f - ${accept}`], opened]);
  const others = [
    rule(12, 'mesh mesh1'),
    rule(13, 'by Ada'),
    rule(14, 'mesh mesh0', [MATCH, { limit: {} }, { accept: null }]),
    rule(15, 'mesh mesh0', [MATCH, { drop: null }]),
  ];
  const counted = [MATCH, { counter: { packets: 1, bytes: 2 } }, { accept: null }];
  const next = host({ nft: '', [CHAIN]: listing(rule(11, 'mesh mesh0', counted), ...others) }, opened);
  await next.rules.open(closedBy('nft'));
  expect(next.changes()).toEqual([]);
  await next.rules.close();
  expect([next.changes(), next.noted()]).toEqual([['nft delete rule inet filter input handle 11'], undefined]);
});

test('a chain that is gone has nothing to be taken away, and one that cannot be listed is named', async () => {
  const noted: Opened = { interfaceName: 'mesh0', tool: 'nft', changes: ['inet filter input'] };
  const gone = host({ [CHAIN]: new Error('Error: No such file or directory') }, noted);
  await gone.rules.close();
  expect(gone.noted()).toBeUndefined();
  const busy = host({ [CHAIN]: new Error('Error: Resource busy') }, noted);
  await expect(busy.rules.close()).rejects.toThrow(`${CHAIN} failed: Error: Resource busy`);
  expect(busy.noted()).toEqual(noted);
});

test('what an agent of another interface or tool opened is closed before', async () => {
  const noted: Opened = { interfaceName: 'mesh7', tool: 'ufw', changes: ['rule'] };
  const { rules, changes, noted: now } = host(ufwHas("ufw allow in on mesh7 comment 'mesh mesh7'"), noted);
  await rules.open(closedBy('ufw'));
  expect(changes()).toEqual(['ufw --force delete allow in on mesh7', 'ufw allow in on mesh0 comment mesh mesh0']);
  expect(now()).toEqual({ interfaceName: 'mesh0', tool: 'ufw', changes: ['rule'] });
});

test('a rule that iptables-restore loaded again is known by what iptables-save has of its comment', async () => {
  const xt = { xt: { type: 'match', name: 'comment' } };
  const [family, table, chain] = ['ip', 'filter', 'INPUT'];
  const of = (handle: number) => ({ rule: { family, table, chain, handle, expr: [MATCH, xt, { accept: null }] } });
  const listed = JSON.stringify({ nftables: [{ chain: { family, table, name: chain, hook: 'input' } }, of(4), of(5)] });
  const line = (handle: number, by: string) => `-A INPUT -i mesh0 -m comment --comment ${by} -j ACCEPT # ${handle}`;
  const saved = [line(4, '"mesh mesh0"'), line(5, 'Ada')].join('\n');
  const answers = {
    nft: '',
    'nft -j --terse list chain ip filter INPUT': listed,
    'iptables-nft-save -t filter': saved,
  };
  const { rules, changes, noted } = host(answers, {
    interfaceName: 'mesh0',
    tool: 'nft',
    changes: ['ip filter INPUT'],
  });
  await rules.close();
  expect([changes(), noted()]).toEqual([
    ['iptables-nft-save -t filter', 'nft delete rule ip filter INPUT handle 4', 'iptables-nft-save -t filter'],
    undefined,
  ]);
});

test('a chain that still accepts the interface by a rule of nobody keeps the note, and is named', async () => {
  const noted: Opened = { interfaceName: 'mesh0', tool: 'nft', changes: ['inet filter input'] };
  const left = host({ nft: '', [CHAIN]: listing(rule(11, 'mesh mesh0'), rule(12, '')) }, noted);
  await expect(left.rules.close()).rejects.toThrow(
    'a rule without a comment still accepts mesh0: remove it (nft delete rule inet filter input handle 12)',
  );
  expect([left.changes(), left.noted()]).toEqual([['nft delete rule inet filter input handle 11'], noted]);
});
