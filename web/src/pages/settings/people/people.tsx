import { holds } from '../../../api/workspace.ts';
import { Accounts } from './accounts.tsx';
import { Members } from './members.tsx';

/** Who works in the workspace; for platform administrators, who can sign in at all. */
export function People() {
  return (
    <>
      <Members />
      {holds('users:write') && <Accounts />}
    </>
  );
}
