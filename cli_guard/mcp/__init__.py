"""The Model Context Protocol: `client/` calls servers, `server/` is one."""
