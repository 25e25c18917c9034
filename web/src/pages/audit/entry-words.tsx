import { Chip } from '../../design/chip.tsx';
import type { AuditEntry } from './filter.ts';

const NAMED = 3;

/** As `1 entry`, `2,000 entries`. */
export function entriesText(count: number): string {
  return `${count.toLocaleString('en')} ${count === 1 ? 'entry' : 'entries'}`;
}

/** Nobody reviewed what the settings of the workspace approve by themselves. */
export function approvedBy(reviewer: string): string {
  return reviewer === '' ? 'approved by itself' : `reviewed by ${reviewer}`;
}

/** What an entry is about, in words. */
export function whatOf({ event, reason = '', changes = [] }: AuditEntry): string {
  if (event) return event.replaceAll('_', ' ');
  const named = changes.slice(0, NAMED).map(({ type, kind, name }) => `${type} ${kind} ${name}`);
  const more = changes.length > NAMED ? `and ${changes.length - NAMED} more` : '';
  return [reason, named.join(', '), more].filter((text) => text !== '').join(': ');
}

export function ApprovalOf({ entry: { approval, direct, result } }: { entry: AuditEntry }) {
  if (result === 'refused') return <Chip tone="danger">✕ refused</Chip>;
  if (approval) return <Chip tone="ok">● {approvedBy(approval.reviewedBy)}</Chip>;
  if (direct) {
    return (
      <Chip tone="warn" title="Written by an operator without an approval workflow">
        ○ direct
      </Chip>
    );
  }
  return null;
}
