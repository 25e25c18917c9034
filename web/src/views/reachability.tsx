import { Connection, type ConnectionAnswer, questionAddress } from './connection.tsx';
import { showView } from './frame.tsx';

showView<ConnectionAnswer>({
  title: 'Reachability',
  Answer: Connection,
  placeOf(_answer, args, dashboard) {
    const at = typeof args['at'] === 'string' ? args['at'] : undefined;
    return dashboard ? { page: 'reachability', href: questionAddress(dashboard, args, at) } : undefined;
  },
});
