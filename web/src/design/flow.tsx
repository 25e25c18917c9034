import { Chip } from './chip.tsx';
import { Icon } from './icon.tsx';
import './flow.css';

interface FlowProps {
  readonly from: string;
  readonly to: string;
  readonly ports: string;
}

/** A connection as chips in one line: who, whom, and on which ports. */
export function Flow({ from, to, ports }: FlowProps) {
  return (
    <span class="flow" title={`${from} to ${to} on ${ports}`}>
      <Chip>{from}</Chip>
      <Icon name="arrow-right" />
      <span class="visually-hidden"> to </span>
      <Chip>{to}</Chip>
      <span class="visually-hidden"> on </span>
      <code class="chip port">{ports}</code>
    </span>
  );
}
