import { Chip } from '../../design/chip.tsx';
import { type AuditEntry, approvedBy } from './entry-words.ts';

/** Whether an entry was refused, or who let it be written. */
export function ResultOf({ entry: { approval, direct, result } }: { entry: AuditEntry }) {
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
