import { texts } from '../../texts/texts.ts';
import { Page } from '../../ui/page.tsx';

export default function Topology() {
  return <Page title={texts.topology.title}>{''}</Page>;
}
