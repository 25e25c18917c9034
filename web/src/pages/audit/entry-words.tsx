import { audit as words } from '../../texts/audit.ts';
import { texts } from '../../texts/texts.ts';
import type { AuditEntry } from './filter.ts';

const NAMED = 3;

/** What an entry is about, in words. */
export function whatOf({ event, reason = '', changes = [] }: AuditEntry): string {
  if (event) return event;
  const named = changes.slice(0, NAMED).map(({ type, kind, name }) => `${words.changed[type]} ${kind} ${name}`);
  const more = changes.length > NAMED ? texts.effect.andMore(changes.length - NAMED) : '';
  return [reason, named.join(', '), more].filter((text) => text !== '').join(': ');
}

export function ApprovalOf({ entry: { approval, direct, result } }: { entry: AuditEntry }) {
  if (result === 'refused') return <span class="tag danger">✕ {words.refused}</span>;
  if (approval) return <span class="tag ok">● {words.approved(approval.reviewedBy)}</span>;
  if (direct) {
    return (
      <span class="tag warn" title={words.directWhy}>
        ○ {words.direct}
      </span>
    );
  }
  return null;
}
