import { computed } from '@preact/signals';
import type { components, operations } from '../../api/schema.d.ts';
import { route } from '../../route/route.ts';

export type AuditEntry = components['schemas']['Audit'];
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

/** What the address asks for (`actor`, `kind`, `name`, `type`, `from`, `to`). */
export const auditQuery = computed((): AuditQuery => {
  const { query } = route.value;
  const given = FIELDS.flatMap((field) => {
    const value = query.get(field);
    return value ? [[field, value] as const] : [];
  });
  return Object.fromEntries(given) as AuditQuery;
});

/** The log of the installation belongs to no workspace: an empty header. */
export const logHeader = computed((): { 'X-Workspace-Id'?: string } =>
  isInstallation.value ? { 'X-Workspace-Id': '' } : {},
);

export const isInstallation = computed(() => route.value.query.get('log') === 'installation');
