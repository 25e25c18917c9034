import type { NetworkModel } from './model.ts';
import { NOW } from './models.testkit.ts';

/** Two peers that may talk, and policies about them. */
export const web = { name: 'web', labels: { role: 'web' }, network: 'n' };
export const db = { name: 'db', labels: { role: 'db' }, network: 'n' };
export const base: NetworkModel = {
  networks: [{ name: 'n', cidr: '10.96.0.0/24', defaultAction: 'ALLOW' }],
  peers: [web, db],
  policies: [],
  now: NOW,
};
export const denyAll = { name: 'base', spec: { action: 'DENY', peerSelector: {} } };
export const dbPolicy = (port: number, more = {}) => ({
  name: 'db',
  spec: {
    action: 'ALLOW',
    peerSelector: { matchLabels: { role: 'db' } },
    ingress: [{ ports: [{ port }] }],
    ...more,
  },
});
export const webOut = {
  name: 'out',
  spec: { action: 'ALLOW', peerSelector: { matchLabels: { role: 'web' } }, egress: [{}] },
};
