import { expect, test, vi } from 'vitest';
import { silentLog } from '../../core/base/silent-log.ts';
import type { ClosedChain } from '../firewall/host/closed-chains.ts';
import type { HostRules } from '../firewall/host/host-rules.ts';
import type { Opened } from '../firewall/host/opened.ts';
import { HostFirewall } from './host-firewall.ts';

const CLOSED: ClosedChain = {
  table: 'ip filter',
  chain: 'INPUT',
  rule: null,
  manager: 'ufw',
  command: 'ufw allow in on mesh0',
};
const CIDR = '10.96.0.0/24';
const OPENED: Opened = { interfaceName: 'mesh0', tool: 'ufw', changes: ['rule'] };

/** A host whose rules drop something until they are opened. */
function host(isToOpen: boolean, opened?: Opened, failure?: string) {
  const did: string[] = [];
  const state = { opened, failure };
  const change = async (done: string, next: Opened | undefined) => {
    if (done === 'opened' || state.opened) did.push(done);
    if (state.failure !== undefined) throw new Error(state.failure);
    state.opened = next;
  };
  const rules: HostRules = {
    judge: async () => ({ manager: 'ufw', closed: state.opened ? [] : [CLOSED], unread: [] }),
    translations: async () => [],
    open: async () => {
      const isChange = !state.opened;
      await change('opened', OPENED);
      return isChange;
    },
    opened: () => state.opened,
    close: () => change('closed', undefined),
  };
  const firewall = new HostFirewall({ rules, interfaceName: 'mesh0', cidr: CIDR, isToOpen, log: silentLog });
  return { firewall, did, state };
}

/** A host whose rules are looked at for so long. */
function slow(lookMs: number) {
  const looks: number[] = [];
  const rules: HostRules = {
    judge: async () => {
      looks.push(performance.now());
      await new Promise((resolve) => setTimeout(resolve, lookMs));
      return { manager: 'nft', closed: [], unread: [] };
    },
    translations: async () => [],
    open: async () => false,
    opened: () => undefined,
    close: async () => {},
  };
  const firewall = new HostFirewall({ rules, interfaceName: 'mesh0', cidr: CIDR, isToOpen: false, log: silentLog });
  return { firewall, looks };
}

/** In ten minutes; the looks of each minute come too. */
test.each([
  ['for a fiftieth of the time', 200, 65, 77],
  ['each minute, where a look takes long', 10_000, 10, 20],
])(
  'rules of a host that change all the time are looked at at once, and then %s',
  async (_, lookMs, atLeast, atMost) => {
    vi.useFakeTimers();
    try {
      const { firewall, looks } = slow(lookMs);
      await vi.advanceTimersByTimeAsync(lookMs);
      looks.length = 0;
      const from = performance.now();
      for (let ms = 0; ms < 600_000; ms += 100) {
        firewall.changed();
        await vi.advanceTimersByTimeAsync(100);
      }
      expect((looks[0] ?? 0) - from).toBe(1_000);
      expect(looks.length).toBeGreaterThanOrEqual(atLeast);
      expect(looks.length).toBeLessThanOrEqual(atMost);
      await vi.advanceTimersByTimeAsync(lookMs);
      await firewall.close();
      const before = looks.length;
      firewall.changed();
      await vi.advanceTimersByTimeAsync(120_000);
      expect(looks.length).toBe(before);
    } finally {
      vi.useRealTimers();
    }
  },
);

test('a change during a look after a change is looked at too', async () => {
  vi.useFakeTimers();
  try {
    const { firewall, looks } = slow(100);
    await vi.advanceTimersByTimeAsync(100);
    firewall.changed();
    await vi.advanceTimersByTimeAsync(1_050);
    firewall.changed();
    await vi.advanceTimersByTimeAsync(10_000);
    expect(looks.length).toBe(3);
    await firewall.close();
  } finally {
    vi.useRealTimers();
  }
});

test('a host that is not asked to open stays as it is, and its closed chain, manager and command are named', async () => {
  const { firewall, did } = host(false);
  const { blocked, opened } = await firewall.status();
  expect([blocked.map(({ text }) => text), opened, did]).toEqual([
    [
      'ip filter INPUT (policy drop) of ufw lets in from mesh0 only what other rules accept. To open it: ufw allow in on mesh0',
    ],
    null,
    [],
  ]);
  await firewall.close();
});

test('a host that is asked to open is so once the first status is there, and closed at the end', async () => {
  const { firewall, did } = host(true);
  expect(await firewall.status()).toMatchObject({ blocked: [], notJudged: [], opened: 'ufw', openTrouble: '' });
  await firewall.close();
  expect(did).toEqual(['opened', 'closed']);
});

test('a node that runs opens its host when it is asked to', async () => {
  const { firewall } = host(false);
  expect((await firewall.status()).opened).toBeNull();
  expect(await firewall.open()).toMatchObject({ blocked: [], opened: 'ufw' });
  await firewall.close();
});

test('what an earlier agent opened is closed by the next one that is not asked to open', async () => {
  const { firewall, did } = host(false, OPENED);
  expect(await firewall.status()).toMatchObject({ opened: null });
  expect(did).toEqual(['closed']);
  await firewall.close();
});

test('a host that does not open or close says so until it does', async () => {
  const { firewall, state } = host(true, undefined, 'ufw allow in on mesh0 failed: locked');
  expect(await firewall.status()).toMatchObject({
    blocked: [{ chain: 'INPUT' }],
    opened: null,
    openTrouble: 'not opened: ufw allow in on mesh0 failed: locked',
  });
  state.failure = undefined;
  await firewall.look();
  expect(await firewall.status()).toMatchObject({ opened: 'ufw', openTrouble: '' });
  await firewall.close();
  const left = host(false, OPENED, 'ufw delete failed');
  expect(await left.firewall.status()).toMatchObject({
    opened: 'ufw',
    openTrouble: 'not closed: ufw delete failed',
  });
  await expect(left.firewall.close()).rejects.toThrow('ufw delete failed');
});

test('a look that is asked for during another one sees what is there then', async () => {
  const { firewall, state } = host(false);
  const first = firewall.look();
  state.opened = undefined;
  await Promise.all([first, firewall.open()]);
  expect(state.opened).toEqual(OPENED);
  await firewall.close();
});

test('a chain of another program stays closed beside the manager that opens, and is trouble once', async () => {
  const changes: string[] = [];
  const other: ClosedChain = { ...CLOSED, table: 'inet other', chain: 'input', manager: 'nft' };
  let opened: Opened | undefined;
  const rules: HostRules = {
    judge: async () => ({ manager: 'ufw', closed: opened ? [other] : [CLOSED, other], unread: ['nft failed'] }),
    translations: async () => [],
    open: async () => {
      const isChange = !opened;
      if (isChange) changes.push('opened');
      opened = OPENED;
      return isChange;
    },
    opened: () => opened,
    close: async () => {},
  };
  const firewall = new HostFirewall({ rules, interfaceName: 'mesh0', cidr: CIDR, isToOpen: true, log: silentLog });
  expect(await firewall.status()).toMatchObject({
    opened: 'ufw',
    openTrouble:
      'not all opened: inet other input lets in no more. Run the command that is named for it, or change its rules',
    blocked: [{ table: 'inet other' }],
    notJudged: [{ what: ['all'], why: 'nft failed' }],
  });
  await firewall.look();
  expect(changes).toEqual(['opened']);
  await firewall.close();
});
