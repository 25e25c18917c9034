import { Chip, type Tone } from '../../design/chip.tsx';
import type { AssessmentRow, ControlStatus } from './types.ts';

export const CONTROL_STATES = { pass: 'passes', fail: 'fails', insufficient_evidence: 'lacks evidence' } as const;

const TONES: Record<ControlStatus, Tone | ''> = { pass: 'ok', fail: 'danger', insufficient_evidence: 'warn' };
const MARKS: Record<ControlStatus, string> = { pass: '●', fail: '▲', insufficient_evidence: '○' };

/** Word, shape and colour. */
export function ControlState({ status }: { status: ControlStatus }) {
  return <State of={status} text={CONTROL_STATES[status]} />;
}

export function OverallState({ status }: { status: AssessmentRow['status'] }) {
  if (status === 'partial') return <State of="fail" text="fails in part" />;
  return <ControlState status={status} />;
}

function State({ of, text }: { of: ControlStatus; text: string }) {
  return (
    <Chip tone={TONES[of]}>
      <span aria-hidden="true">{MARKS[of]}</span> {text}
    </Chip>
  );
}
