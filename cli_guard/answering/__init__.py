"""Who answers a pending review: approve, sign, audit, receive pushed commits."""
