import { expect, test } from 'vitest';
import { policy, stateWith } from '../../test/kits/records/records.ts';
import type { PolicySpec } from '../model/policy.ts';
import { WORKLOAD_LABEL } from '../model/presets.ts';
import type { PolicyRecord } from '../model/resources.ts';
import { joinEnrolment } from './enrolment.ts';

const NOW = Date.UTC(2030, 0, 1);
const RULE = { uid: 'wlr_1', spec: { kind: 'join', name: 'ci', labels: {}, preset: 'sandboxed' } };
const SPEC: PolicySpec = { action: 'ALLOW', peerSelector: { peers: [] } };

test.each([
  ['counts', {}, (name: string) => name],
  ['waits', { startsAt: '2031-01-01T00:00:00.000Z' }, (name: string) => name],
  ['is written otherwise', {}, (name: string) => name.toUpperCase()],
])('no workload joins where a policy that %s has the name of what is to hold it', (_, of, nameOf) => {
  const enrol = (...records: PolicyRecord[]) => joinEnrolment(stateWith(...records), RULE as never, NOW);
  const { labels, ops } = enrol();
  const name = labels[WORKLOAD_LABEL] ?? '';
  expect(ops[0]).toMatchObject({ op: 'create', record: { name } });
  expect(enrol(policy(name, SPEC, { labels })).ops[0]).toMatchObject({ op: 'check', key: { name } });
  expect(() => enrol(policy(nameOf(name), { ...SPEC, ...of }))).toThrow(
    'has the name of the preset of these workloads',
  );
});
