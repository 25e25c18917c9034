import { may } from '../../api/workspace.ts';
import { Page } from '../../ui/page.tsx';
import { PAGE_NAMES } from '../names.ts';
import { AddDevice } from './add-device.tsx';
import { JoinTokens } from './join-tokens.tsx';

export default function Join() {
  return (
    <Page title={PAGE_NAMES.join.title}>
      <AddDevice />
      {may('tokens:write') && <JoinTokens />}
    </Page>
  );
}
