import { expect, it } from 'vitest';
import { buildKit, person } from '../../../test/kits/plane/kit.ts';
import { seedPeers } from '../../../test/kits/records/seed-peers.ts';
import { formatInstant, formatSecond, parseInstant } from '../../base/time.ts';
import { wallTime } from '../../base/time-zone.ts';

const ZONE = 'America/Los_Angeles';

it.each([
  { says: 'until tomorrow 18:00', zone: ZONE },
  { says: 'until tomorrow 18:00 UTC', zone: 'UTC' },
])(
  'a plan ends by the clocks of its workspace, or of a zone that is named, and says so in UTC too: $says',
  async ({ says, zone }) => {
    await using kit = await buildKit();
    const workspace = await kit.workspace();
    await seedPeers(kit.services, workspace, { 'web-1': {}, 'db-1': {} });
    const as = person('admin', workspace);
    await kit.call('update_workspace', { settings: { timeZone: ZONE } }, { as, workspace });
    const plan = await kit.call(
      'plan_network_change',
      { intent: `block web-1 from db-1 ${says}`, dry_run: true },
      { as, workspace },
    );
    const [, expiresAt = ''] = /expiresAt: "?([^"\s]+)/.exec(plan.changes[0].after) ?? [];
    const ends = wallTime(parseInstant(expiresAt), zone);
    expect(formatInstant(ends).slice(11)).toBe('18:00:00.000Z');
    expect(plan.diff_markdown).toContain('18:00');
    expect(plan.diff_markdown).toContain(formatSecond(parseInstant(expiresAt)));
  },
);
