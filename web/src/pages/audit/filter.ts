import { computed } from '@preact/signals';
import type { operations } from '../../api/schema.d.ts';
import { route } from '../../route/route.ts';

export type AuditQuery = NonNullable<operations['list_audit']['parameters']['query']>;
export type Kind = NonNullable<AuditQuery['kind']>;

/** Kinds that people look for; others can be named in the address. */
export const KINDS: readonly Kind[] = [
  'MeshPolicy',
  'MeshNetwork',
  'MeshPeer',
  'AgentIdentity',
  'Workflow',
  'PolicyAssertion',
  'Token',
  'Member',
  'Assessment',
  'Review',
  'Snapshot',
  'Webhook',
  'Workspace',
  'Account',
  'Session',
];

export const FIELDS = ['actor', 'kind', 'name', 'type', 'from', 'to'] as const;

/** What the address asks for. Jobs of the control plane are left out, unless `system=1` or an actor is named. */
export const auditQuery = computed((): AuditQuery => JSON.parse(asked.value));

/** As text, which is the same where another part of the address changes. */
const asked = computed(() => {
  const { query } = route.value;
  const given = FIELDS.flatMap((field) => {
    const value = query.get(field);
    return value ? [[field, value] as const] : [];
  });
  const author = !showsSystem.value && !query.has('actor') ? [['author', 'caller']] : [];
  return JSON.stringify(Object.fromEntries([...given, ...author]));
});

/** The log of the installation belongs to no workspace: an empty header. */
export const logHeader = computed((): { 'X-Workspace-Id'?: string } =>
  isInstallation.value ? { 'X-Workspace-Id': '' } : {},
);

/** Entries of jobs are shown too. */
export const showsSystem = computed(() => route.value.query.has('system'));

export const isInstallation = computed(() => route.value.query.get('log') === 'installation');
